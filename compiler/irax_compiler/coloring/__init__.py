"""Colors of the rows or columns of sparse matrices, by which few products give all elements."""
