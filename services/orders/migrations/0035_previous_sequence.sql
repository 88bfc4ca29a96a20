CREATE TRIGGER outbox_follow_subject BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION outbox_follow_subject();
