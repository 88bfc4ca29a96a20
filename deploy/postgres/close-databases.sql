-- Runs once, when the data of the server is initialised. The services' roles must not connect to the server's own
-- databases.
REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC;
