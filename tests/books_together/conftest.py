"""The same places for books as in tests/books; a block of its own, since many writers and many deliveries take longer."""

from tests.books.conftest import books, fresh, kind, made_place, place, place_of, postgres_socket, templates

__all__ = ["books", "fresh", "kind", "made_place", "place", "place_of", "postgres_socket", "templates"]
