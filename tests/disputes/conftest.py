"""Disputes and credits, of small projects with one bill or two, and of books in both databases."""

from tests.books.conftest import (  # noqa: F401 - fixtures of the books
    books,
    kind,
    made_place,
    place,
    place_of,
    postgres_socket,
    templates,
)
