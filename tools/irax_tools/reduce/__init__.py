"""The smallest module for which something still fails.

children   jobs and commands in processes of their own, which may crash or hang
edits      changes that make a module smaller
search     which edits are tried, in which order
report     what is found, as a text that can be filed
"""
