"""The real servers, worker and browser that tests use, started by the tests and ended with them."""
