-- Messages of streams are counted as attempts are, by their destination (docs/decisions/024-activity.md).
CREATE FUNCTION "activity_of_stream_messages"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC'), 'stream', "destinationId", count(*)
    FROM inserted GROUP BY 1, 2, 4;
  RETURN NULL;
END $$;

CREATE TRIGGER "activity_insert" AFTER INSERT ON "StreamMessage" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION "activity_of_stream_messages"();

-- What is stored already.
INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
  SELECT "projectId", date_trunc('minute', "createTime", 'UTC'), 'stream', "destinationId", count(*)
  FROM "StreamMessage" GROUP BY 1, 2, 4;
