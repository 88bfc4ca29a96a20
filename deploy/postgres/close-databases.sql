-- Run once, when the server's data is made: the services' roles have no business in the server's own databases.
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;
