-- Triggers also run on the nodes of a cluster (docs/decisions/034-citus.md), where a table is a shard whose name ends in a number,
-- and where a statement that reads or changes rows names their project and reads no transition table beside them.

CREATE OR REPLACE FUNCTION "put_search_words"("ofProject" TEXT, "ofKind" TEXT, "ofRow" TEXT, "texts" TEXT[])
RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  "word" TEXT;
BEGIN
  DELETE FROM "SearchWord" WHERE "projectId" = "ofProject" AND "rowId" = "ofRow";
  FOR "word" IN SELECT * FROM "search_words"("texts") LOOP
    INSERT INTO "SearchWord" ("projectId", "kind", "place", "rowId")
      VALUES ("ofProject", "ofKind", "word" || ' ' || "ofRow", "ofRow") ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION "put_connection_words"("ofProject" TEXT, "ofConnection" TEXT, "ofGroup" TEXT, "ofConsumer" TEXT)
RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  "texts" TEXT[];
BEGIN
  SELECT ARRAY[g."groupRef", g."groupName", c."consumerRef", c."consumerName"] INTO "texts"
  FROM "Group" g JOIN "Consumer" c ON c."projectId" = g."projectId"
  WHERE g."projectId" = "ofProject" AND g."id" = "ofGroup" AND c."id" = "ofConsumer";
  IF FOUND THEN
    PERFORM "put_search_words"("ofProject", 'Connection', "ofConnection", "texts");
  END IF;
END $$;

-- Its arguments are the columns in which words are searched.
CREATE OR REPLACE FUNCTION "follow_names"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "put_search_words"(NEW."projectId", regexp_replace(TG_TABLE_NAME::text, '_\d+$', ''), NEW."id",
    (SELECT array_agg(to_jsonb(NEW) ->> name) FROM unnest(TG_ARGV) name));
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "follow_names_of_connections"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "isGroup" BOOLEAN := regexp_replace(TG_TABLE_NAME::text, '_\d+$', '') = 'Group';
  "named" RECORD;
BEGIN
  FOR "named" IN SELECT c."id", c."groupId", c."consumerId" FROM "Connection" c
    WHERE c."projectId" = NEW."projectId" AND CASE WHEN "isGroup" THEN c."groupId" ELSE c."consumerId" END = NEW."id"
  LOOP
    PERFORM "put_connection_words"(NEW."projectId", "named"."id", "named"."groupId", "named"."consumerId");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_new_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "actionType" || ' ' || "status" AS "key", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT n."projectId", date_trunc('minute', n."createTime", 'UTC') AS "time", s."key", sum(s."amount") AS "sum"
    FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
    CROSS JOIN LATERAL (VALUES (o."actionType" || ' ' || o."status", -1), (n."actionType" || ' ' || n."status", 1)) s("key", "amount")
    WHERE n."status" <> o."status" GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."sum");
  END LOOP;
  FOR "counted" IN
    SELECT "projectId", sum("read") AS "read", sum("written") AS "written" FROM (
      SELECT n."projectId",
        greatest(0, coalesce((n."metadata"->'progress'->>'recordsProcessed')::int, 0)
          - coalesce((o."metadata"->'progress'->>'recordsProcessed')::int, 0)) AS "read",
        greatest(0, coalesce(jsonb_array_length(n."metadata"->'successfulRecordIds'), 0)
          - coalesce(jsonb_array_length(o."metadata"->'successfulRecordIds'), 0)) AS "written"
      FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
      WHERE n."metadata" <> o."metadata") records
    GROUP BY 1 HAVING sum("read") + sum("written") > 0
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first", "second")
      VALUES ("counted"."projectId", date_trunc('minute', statement_timestamp(), 'UTC'), 'record', '',
        "counted"."read", "counted"."written");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_attempts"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "made" RECORD;
BEGIN
  FOR "made" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", array_agg("deliveryId") AS "deliveryIds",
      array_agg("activity_bucket"("durationMs")) AS "buckets", array_agg("error" IS NOT NULL) AS "failed"
    FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "first", "second")
      SELECT d."projectId", "made"."time", 'delivery', d."destinationId", a."bucket", count(*), count(*) FILTER (WHERE a."hasFailed")
      FROM unnest("made"."deliveryIds", "made"."buckets", "made"."failed") a("deliveryId", "bucket", "hasFailed")
      JOIN "Delivery" d ON d."projectId" = "made"."projectId" AND d."id" = a."deliveryId"
      GROUP BY d."projectId", d."destinationId", a."bucket";
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_provider_events"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "receiveTime", 'UTC') AS "time", count(*) FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "third")
      VALUES ("counted"."projectId", "counted"."time", 'record', '', "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_stream_messages"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "destinationId", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
      VALUES ("counted"."projectId", "counted"."time", 'stream', "counted"."destinationId", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

-- What a config does not map of what only a customer can map; null if it maps all.
CREATE OR REPLACE FUNCTION "unmapped_fields"("required" JSONB, "chosen" JSONB) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(required."objectName" || ': ' || required."mapToName", ', ')
  FROM "required_mappings"("required") required
  JOIN LATERAL jsonb_array_elements("chosen"->'read') choice ON choice."value"->>'objectName' = required."objectName"
  WHERE choice."value"->>'disabled' = 'false'
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(choice."value"->'fieldMappings') mapping
      WHERE mapping."value"->>'mapToName' = required."mapToName")
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(choice."value"->'dynamicMappings') mapping
      WHERE mapping."value"->>'mapToName' = required."mapToName" AND mapping."value"->>'fieldName' IS NOT NULL)
$$;

-- Why an installation does not work, for people; null if it works.
CREATE OR REPLACE FUNCTION "health_reason"("ofProject" TEXT, "ofInstallation" TEXT) RETURNS TEXT LANGUAGE plpgsql STABLE AS $$
DECLARE
  "state" RECORD;
  "unmapped" TEXT;
  "unsubscribed" TEXT;
BEGIN
  SELECT c."status", r."content" AS "required", g."content" AS "chosen", i."failuresInARow" INTO "state"
  FROM "Installation" i
  LEFT JOIN "Connection" c ON c."projectId" = i."projectId" AND c."id" = i."connectionId"
  LEFT JOIN "Integration" n ON n."projectId" = i."projectId" AND n."id" = i."integrationId"
  LEFT JOIN "Revision" r ON r."projectId" = n."projectId" AND r."id" = n."latestRevisionId"
  LEFT JOIN "InstallationConfig" g ON g."projectId" = i."projectId" AND g."id" = i."configId"
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation";
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF "state"."status" = 'BAD_CREDENTIALS' THEN
    RETURN 'The provider refuses the credentials of its connection.';
  END IF;
  "unmapped" := "unmapped_fields"("state"."required", "state"."chosen");
  IF "unmapped" IS NOT NULL THEN
    RETURN 'Its config maps no field to what the integration requires: ' || "unmapped" || '. Reads wait.';
  END IF;
  SELECT string_agg(t."objectName" || ': ' || coalesce(t."error", ''), ' ' ORDER BY t."objectName") INTO "unsubscribed"
  FROM "ObjectSubscription" t
  WHERE t."projectId" = "ofProject" AND t."installationId" = "ofInstallation" AND t."isWanted"
    AND t."status" IN ('FAILED', 'UNSUPPORTED');
  IF "unsubscribed" IS NOT NULL THEN
    RETURN 'Its subscriptions do not work: ' || "unsubscribed";
  END IF;
  RETURN CASE WHEN "state"."failuresInARow" >= 3 THEN 'Its last 3 operations have failed.' END;
END $$;

-- Two changes that decide the same health take turns: each holds the row, and only then looks at what the other has committed.
CREATE OR REPLACE FUNCTION "refresh_health"("ofProject" TEXT, "ids" TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  "ofInstallation" TEXT;
  "reason" TEXT;
BEGIN
  PERFORM 1 FROM "Installation" WHERE "projectId" = "ofProject" AND "id" = ANY("ids") ORDER BY "id" FOR NO KEY UPDATE;
  FOREACH "ofInstallation" IN ARRAY "ids" LOOP
    "reason" := "health_reason"("ofProject", "ofInstallation");
    UPDATE "Installation" i
    SET "healthReason" = "reason",
      "healthStatus" = (CASE WHEN "reason" IS NULL THEN 'HEALTHY' ELSE 'UNHEALTHY' END)::"InstallationHealth"
    WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation" AND i."healthReason" IS DISTINCT FROM "reason";
  END LOOP;
END $$;

-- Mostly no end changes a count: the installation works and goes on working, or fails for long. That is seen by its key alone,
-- before the ends are put in their order.
CREATE OR REPLACE FUNCTION "health_of_ended_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "ended" RECORD;
  "isChanged" BOOLEAN := FALSE;
BEGIN
  FOR "ended" IN
    SELECT DISTINCT "projectId", "installationId", "status" FROM after_update WHERE "status" <> 'IN_PROGRESS'
  LOOP
    PERFORM 1 FROM "Installation" i
    WHERE i."projectId" = "ended"."projectId" AND i."id" = "ended"."installationId"
      AND i."failuresInARow" <> CASE "ended"."status" WHEN 'SUCCESS' THEN 0 ELSE 3 END;
    "isChanged" := FOUND;
    EXIT WHEN "isChanged";
  END LOOP;
  IF NOT "isChanged" THEN
    RETURN NULL;
  END IF;
  PERFORM "count_failures"(e."projectId", e."installationId", e."lastSuccess" IS NOT NULL, e."failures")
  FROM (
    SELECT "projectId", "installationId", "lastSuccess",
      (count(*) FILTER (WHERE "status" = 'FAILURE' AND "id" > coalesce("lastSuccess", '')))::int AS "failures"
    FROM (
      SELECT n."projectId", n."installationId", n."status", n."id",
        max(n."id") FILTER (WHERE n."status" = 'SUCCESS') OVER (PARTITION BY n."projectId", n."installationId") AS "lastSuccess"
      FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
      WHERE n."status" <> o."status" AND n."status" <> 'IN_PROGRESS'
    ) ended
    GROUP BY 1, 2, 3
    ORDER BY 2
  ) e;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "health_of_connection"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "ids" TEXT[];
BEGIN
  SELECT array_agg("id") INTO "ids" FROM "Installation" WHERE "projectId" = NEW."projectId" AND "connectionId" = NEW."id";
  PERFORM "refresh_health"(NEW."projectId", coalesce("ids", '{}'));
  RETURN NULL;
END $$;

-- Its connection is held, so that it does not turn bad unseen. The integration is held by whoever installs.
CREATE OR REPLACE FUNCTION "health_of_installation"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "Connection" WHERE "projectId" = NEW."projectId" AND "id" = NEW."connectionId" FOR SHARE;
  PERFORM "refresh_health"(NEW."projectId", ARRAY[NEW."id"]);
  RETURN NULL;
END $$;

-- A config is stored before or after it comes into force.
CREATE OR REPLACE FUNCTION "health_of_config"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM "Installation" i
  WHERE i."projectId" = NEW."projectId" AND i."id" = NEW."installationId" AND i."configId" = NEW."id";
  IF FOUND THEN
    PERFORM "refresh_health"(NEW."projectId", ARRAY[NEW."installationId"]);
  END IF;
  RETURN NULL;
END $$;

-- If nothing has to be mapped, only those can change that did not work before.
CREATE OR REPLACE FUNCTION "health_of_integration"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "ids" TEXT[];
  "isRequiring" BOOLEAN;
BEGIN
  PERFORM 1 FROM "Revision" r CROSS JOIN LATERAL "required_mappings"(r."content")
  WHERE r."projectId" = NEW."projectId" AND r."id" = NEW."latestRevisionId";
  "isRequiring" := FOUND;
  SELECT array_agg(i."id") INTO "ids" FROM "Installation" i
  WHERE i."projectId" = NEW."projectId" AND i."integrationId" = NEW."id" AND ("isRequiring" OR i."healthStatus" = 'UNHEALTHY');
  PERFORM "refresh_health"(NEW."projectId", coalesce("ids", '{}'));
  RETURN NULL;
END $$;
