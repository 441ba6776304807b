"""The pages of the documentation site that are made from the code, and what MkDocs asks of us."""
