-- DropIndex
DROP INDEX "Installation_connectionId_idx";

-- DropIndex
DROP INDEX "Operation_groupId_idx";

-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "eventType" "NotificationEventType";

-- AlterTable
ALTER TABLE "NotificationEventTopic" ADD COLUMN     "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- CreateTable
CREATE TABLE "SearchWord" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "place" TEXT COLLATE "C" NOT NULL,
    "rowId" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "SearchWord_pkey" PRIMARY KEY ("projectId","kind","place")
);

-- CreateIndex
CREATE INDEX "SearchWord_projectId_rowId_place_idx" ON "SearchWord"("projectId", "rowId", "place");

-- CreateIndex
CREATE INDEX "Delivery_projectId_status_id_idx" ON "Delivery"("projectId", "status", "id");

-- CreateIndex
CREATE INDEX "Delivery_projectId_eventType_status_id_idx" ON "Delivery"("projectId", "eventType", "status", "id") WHERE ("eventType" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Installation_connectionId_id_idx" ON "Installation"("connectionId", "id");

-- CreateIndex
CREATE INDEX "Operation_integrationId_status_actionType_id_idx" ON "Operation"("integrationId", "status", "actionType", "id");

-- CreateIndex
CREATE INDEX "Operation_groupId_status_actionType_id_idx" ON "Operation"("groupId", "status", "actionType", "id") WHERE ("groupId" IS NOT NULL);

-- What is stored already
UPDATE "NotificationEventTopic" t SET "createTime" = e."createTime"
  FROM "NotificationEvent" e WHERE e."id" = t."eventId" AND e."projectId" = t."projectId";
UPDATE "Delivery" d SET "eventType" = e."eventType"
  FROM "NotificationEvent" e WHERE e."id" = d."eventId" AND e."projectId" = d."projectId";

-- The places where words begin, each with the text from there on: "acme corp", "corp". What is no ASCII sign
-- counts as a letter, so that no word is cut where the database does not know an alphabet. The collation is said, because
-- a function takes that of its arguments, and ids have another one.
CREATE FUNCTION "search_words"("texts" TEXT[]) RETURNS SETOF TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT left(substr(t."text", i), 64)
  FROM (SELECT lower(given COLLATE "default") AS "text" FROM unnest("texts") given) t
  CROSS JOIN LATERAL generate_series(1, least(length(t."text"), 256)) i
  WHERE substr(t."text", i, 1) !~ '[\s!-/:-@[-`{-~]'
    AND (i = 1 OR substr(t."text", i - 1, 1) ~ '[\s!-/:-@[-`{-~]')
  LIMIT 40
$$;

CREATE FUNCTION "put_search_words"("ofProject" TEXT, "ofKind" TEXT, "ofRow" TEXT, "texts" TEXT[])
RETURNS VOID LANGUAGE sql AS $$
  DELETE FROM "SearchWord" WHERE "projectId" = "ofProject" AND "rowId" = "ofRow";
  INSERT INTO "SearchWord" ("projectId", "kind", "place", "rowId")
    SELECT "ofProject", "ofKind", word || ' ' || "ofRow", "ofRow" FROM "search_words"("texts") word
    ON CONFLICT DO NOTHING;
$$;

-- Of a connection: the names and the refs of its group and its consumer.
CREATE FUNCTION "put_connection_words"("ofProject" TEXT, "ofConnection" TEXT, "ofGroup" TEXT, "ofConsumer" TEXT)
RETURNS VOID LANGUAGE sql AS $$
  SELECT "put_search_words"("ofProject", 'Connection', "ofConnection",
    ARRAY[g."groupRef", g."groupName", c."consumerRef", c."consumerName"])
  FROM "Group" g, "Consumer" c WHERE g."id" = "ofGroup" AND c."id" = "ofConsumer"
$$;

-- Its arguments are the columns in which words are searched.
CREATE FUNCTION "follow_names"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_search_words"(NEW."projectId", TG_TABLE_NAME::text, NEW."id",
    (SELECT array_agg(to_jsonb(NEW) ->> name) FROM unnest(TG_ARGV) name));
  RETURN NULL;
END $$;

CREATE FUNCTION "follow_connection"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_connection_words"(NEW."projectId", NEW."id", NEW."groupId", NEW."consumerId");
  RETURN NULL;
END $$;

CREATE FUNCTION "follow_names_of_connections"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_connection_words"(c."projectId", c."id", c."groupId", c."consumerId") FROM "Connection" c
  WHERE c."projectId" = NEW."projectId" AND
    CASE TG_TABLE_NAME WHEN 'Group' THEN c."groupId" ELSE c."consumerId" END = NEW."id";
  RETURN NULL;
END $$;

CREATE FUNCTION "forget_names"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "SearchWord" WHERE "projectId" = OLD."projectId" AND "rowId" = OLD."id";
  RETURN NULL;
END $$;

CREATE TRIGGER "search_words_put" AFTER INSERT ON "Group" FOR EACH ROW EXECUTE FUNCTION "follow_names"('groupRef', 'groupName');
CREATE TRIGGER "search_words_put" AFTER INSERT ON "Consumer" FOR EACH ROW EXECUTE FUNCTION "follow_names"('consumerRef', 'consumerName');
CREATE TRIGGER "search_words_put" AFTER INSERT ON "Integration" FOR EACH ROW EXECUTE FUNCTION "follow_names"('name');
CREATE TRIGGER "search_words_put" AFTER INSERT ON "Destination" FOR EACH ROW EXECUTE FUNCTION "follow_names"('name');
CREATE TRIGGER "search_words_put" AFTER INSERT ON "Topic" FOR EACH ROW EXECUTE FUNCTION "follow_names"('name');
CREATE TRIGGER "search_words_put" AFTER INSERT ON "Connection" FOR EACH ROW EXECUTE FUNCTION "follow_connection"();

CREATE TRIGGER "search_words_change" AFTER UPDATE OF "groupName" ON "Group" FOR EACH ROW
  WHEN (OLD."groupName" IS DISTINCT FROM NEW."groupName") EXECUTE FUNCTION "follow_names"('groupRef', 'groupName');
CREATE TRIGGER "search_words_of_connections" AFTER UPDATE OF "groupName" ON "Group" FOR EACH ROW
  WHEN (OLD."groupName" IS DISTINCT FROM NEW."groupName") EXECUTE FUNCTION "follow_names_of_connections"();
CREATE TRIGGER "search_words_change" AFTER UPDATE OF "consumerName" ON "Consumer" FOR EACH ROW
  WHEN (OLD."consumerName" IS DISTINCT FROM NEW."consumerName") EXECUTE FUNCTION "follow_names"('consumerRef', 'consumerName');
CREATE TRIGGER "search_words_of_connections" AFTER UPDATE OF "consumerName" ON "Consumer" FOR EACH ROW
  WHEN (OLD."consumerName" IS DISTINCT FROM NEW."consumerName") EXECUTE FUNCTION "follow_names_of_connections"();
CREATE TRIGGER "search_words_change" AFTER UPDATE OF "name" ON "Destination" FOR EACH ROW
  WHEN (OLD."name" IS DISTINCT FROM NEW."name") EXECUTE FUNCTION "follow_names"('name');
CREATE TRIGGER "search_words_change" AFTER UPDATE OF "name" ON "Topic" FOR EACH ROW
  WHEN (OLD."name" IS DISTINCT FROM NEW."name") EXECUTE FUNCTION "follow_names"('name');

CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Group" FOR EACH ROW EXECUTE FUNCTION "forget_names"();
CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Consumer" FOR EACH ROW EXECUTE FUNCTION "forget_names"();
CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Integration" FOR EACH ROW EXECUTE FUNCTION "forget_names"();
CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Destination" FOR EACH ROW EXECUTE FUNCTION "forget_names"();
CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Topic" FOR EACH ROW EXECUTE FUNCTION "forget_names"();
CREATE TRIGGER "search_words_forget" AFTER DELETE ON "Connection" FOR EACH ROW EXECUTE FUNCTION "forget_names"();

SELECT "put_search_words"("projectId", 'Group', "id", ARRAY["groupRef", "groupName"]) FROM "Group";
SELECT "put_search_words"("projectId", 'Consumer', "id", ARRAY["consumerRef", "consumerName"]) FROM "Consumer";
SELECT "put_search_words"("projectId", 'Integration', "id", ARRAY["name"]) FROM "Integration";
SELECT "put_search_words"("projectId", 'Destination', "id", ARRAY["name"]) FROM "Destination";
SELECT "put_search_words"("projectId", 'Topic', "id", ARRAY["name"]) FROM "Topic";
SELECT "put_connection_words"("projectId", "id", "groupId", "consumerId") FROM "Connection";
