"""Numbers in the prose of pages, which follow from the tables of pages."""
