-- Renames columns and functions after what they hold, and drops what only earlier versions used.

ALTER TABLE "Destination" RENAME COLUMN "isFailingTold" TO "isFailureReported";
ALTER TABLE "ObjectSubscription" RENAME COLUMN "madeFor" TO "appliedSettings";
ALTER TABLE "ProviderStream" RENAME COLUMN "knownTime" TO "readUntil";
ALTER TABLE "WriteTask" RENAME COLUMN "openGroup" TO "batchKey";
ALTER INDEX "WriteTask_projectId_openGroup_key" RENAME TO "WriteTask_projectId_batchKey_key";
ALTER TABLE "WriteTask" RENAME COLUMN "lastAttempt" TO "lastAttemptTime";
ALTER TABLE "ReadRun" RENAME COLUMN "position" TO "nextReadUntil";
ALTER TABLE "ReadRun" RENAME COLUMN "waiting" TO "pendingRecords";
ALTER TABLE "ReadRun" RENAME COLUMN "cursorMark" TO "earlierCursorHash";
ALTER TABLE "SearchWord" RENAME COLUMN "place" TO "sortKey";
ALTER INDEX "SearchWord_projectId_rowId_place_idx" RENAME TO "SearchWord_projectId_rowId_sortKey_idx";
ALTER TABLE "SchemaWatch" RENAME COLUMN "known" TO "knownFields";
ALTER TABLE "DestinationUse" RENAME COLUMN "userId" TO "usedById";
ALTER TABLE "ServerProcess" RENAME COLUMN "missedTime" TO "lockMissingSince";
ALTER TABLE "Installation" RENAME COLUMN "failuresInARow" TO "consecutiveFailures";
ALTER TABLE "InstalledObject" RENAME COLUMN "failedRuns" TO "consecutiveFailures";

ALTER TABLE "Connection" DROP COLUMN "refreshRetryTime";
ALTER TABLE "Connection" ALTER COLUMN "refreshDueTime" DROP DEFAULT;
ALTER TABLE "OrgMember" ALTER COLUMN "role" DROP DEFAULT;
ALTER TABLE "Invite" ALTER COLUMN "role" DROP DEFAULT;
DROP SCHEMA IF EXISTS "pgboss" CASCADE;

UPDATE "WriteTask" SET "uncertainSince" = "createTime" WHERE "isUncertain" AND "uncertainSince" IS NULL;

-- A secret is encrypted together with the name of its table, so the rows can't be renamed. The next read of each list,
-- which is due immediately, creates a webhook.
UPDATE "ProviderStream" SET "dueTime" = '2026-01-01T00:00:00Z' FROM "StreamPing"
  WHERE "StreamPing"."projectId" = "ProviderStream"."projectId" AND "StreamPing"."id" = "ProviderStream"."connectionId";
DROP TABLE "StreamPing";
CREATE TABLE "ListWebhook" (
  "id" TEXT COLLATE "C" NOT NULL,
  "projectId" TEXT COLLATE "C" NOT NULL,
  "providerRef" TEXT NOT NULL,
  "address" TEXT NOT NULL,
  "secretSealed" TEXT NOT NULL,
  "checkTime" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "ListWebhook_pkey" PRIMARY KEY ("projectId", "id")
);
ALTER TABLE "ListWebhook" ADD CONSTRAINT "ListWebhook_projectId_id_fkey" FOREIGN KEY ("projectId", "id")
  REFERENCES "ProviderStream"("projectId", "connectionId") ON DELETE CASCADE ON UPDATE NO ACTION;

-- Read records, written records and received events get rows of their own.
INSERT INTO "ActivityCount" ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms")
  SELECT stored."projectId", stored."grain", stored."time", stored."kind", part."key", part."counts", '{}', '{}', '{}', '{}', '{}'
  FROM "ActivityCount" stored
  CROSS JOIN LATERAL (VALUES ('written', stored."second"), ('received', stored."third")) part("key", "counts")
  WHERE stored."kind" = 'record';
UPDATE "ActivityCount" SET "key" = 'read', "second" = '{}' WHERE "kind" = 'record' AND "key" = '';
INSERT INTO "ActivityDelta" ("projectId", "number", "time", "kind", "key", "first")
  SELECT delta."projectId", nextval('"ActivityDelta_number_seq"'), delta."time", delta."kind", part."key", part."count"
  FROM "ActivityDelta" delta
  CROSS JOIN LATERAL (VALUES ('written', delta."second"), ('received', delta."third")) part("key", "count")
  WHERE delta."kind" = 'record' AND part."count" <> 0;
UPDATE "ActivityDelta" SET "key" = 'read', "second" = 0 WHERE "kind" = 'record' AND "key" = '';
ALTER TABLE "ActivityCount" RENAME COLUMN "first" TO "total";
ALTER TABLE "ActivityCount" RENAME COLUMN "second" TO "failed";
ALTER TABLE "ActivityCount" DROP COLUMN "third";
ALTER TABLE "ActivityDelta" RENAME COLUMN "first" TO "total";
ALTER TABLE "ActivityDelta" RENAME COLUMN "second" TO "failed";
ALTER TABLE "ActivityDelta" DROP COLUMN "third";

DROP FUNCTION "activity_line"(int[], int[]);
DROP FUNCTION "activity_over"(int[], int[]);
DROP FUNCTION "activity_place"(text, timestamptz);

CREATE OR REPLACE FUNCTION "activity_array"(positions integer[], "counts" integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."value", 0) ORDER BY n)
  FROM generate_series(1, (SELECT max(p) FROM unnest("positions") p)) n
  LEFT JOIN unnest("positions", "counts") v("position", "value") ON v."position" = n
$$;

CREATE OR REPLACE FUNCTION "activity_replace"(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(nullif(v."b", 0), v."a", 0) ORDER BY v."position")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "position")
$$;

CREATE OR REPLACE FUNCTION "activity_sum"(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."a", 0) + coalesce(v."b", 0) ORDER BY v."position")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "position")
$$;

CREATE OR REPLACE FUNCTION "activity_position"(grain text, "time" timestamp with time zone) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT CASE "grain"
    WHEN 'minute' THEN extract(minute FROM "time" AT TIME ZONE 'UTC') + 1
    WHEN 'hour' THEN extract(hour FROM "time" AT TIME ZONE 'UTC') + 1
    ELSE extract(day FROM "time" AT TIME ZONE 'UTC')
  END::int
$$;

CREATE OR REPLACE FUNCTION "activity_of_attempts"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", array_agg("deliveryId") AS "deliveryIds",
      array_agg("activity_bucket"("durationMs")) AS "buckets", array_agg("error" IS NOT NULL) AS "hasFailed"
    FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "total", "failed")
      SELECT d."projectId", "counted"."time", 'delivery', d."destinationId", a."bucket", count(*), count(*) FILTER (WHERE a."hasFailed")
      FROM unnest("counted"."deliveryIds", "counted"."buckets", "counted"."hasFailed") a("deliveryId", "bucket", "hasFailed")
      JOIN "Delivery" d ON d."projectId" = "counted"."projectId" AND d."id" = a."deliveryId"
      GROUP BY d."projectId", d."destinationId", a."bucket";
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_new_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "actionType" || ' ' || "status" AS "key", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT n."projectId", date_trunc('minute', n."createTime", 'UTC') AS "time", s."key", sum(s."amount") AS "sum"
    FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
    CROSS JOIN LATERAL (VALUES (o."actionType" || ' ' || o."status", -1), (n."actionType" || ' ' || n."status", 1)) s("key", "amount")
    WHERE n."status" <> o."status" GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'operation', "counted"."key", "counted"."sum");
  END LOOP;
  FOR "counted" IN
    SELECT n."projectId", s."key", sum(s."amount") AS "sum"
    FROM after_update n JOIN before_update o ON o."projectId" = n."projectId" AND o."id" = n."id"
    CROSS JOIN LATERAL (VALUES
      ('read', coalesce((n."metadata"->'progress'->>'recordsProcessed')::int, 0)
        - coalesce((o."metadata"->'progress'->>'recordsProcessed')::int, 0)),
      ('written', coalesce(jsonb_array_length(n."metadata"->'successfulRecordIds'), 0)
        - coalesce(jsonb_array_length(o."metadata"->'successfulRecordIds'), 0))
    ) s("key", "amount")
    WHERE n."metadata" <> o."metadata" AND s."amount" > 0 GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", date_trunc('minute', statement_timestamp(), 'UTC'), 'record', "counted"."key", "counted"."sum");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_provider_events"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "receiveTime", 'UTC') AS "time", count(*) FROM inserted GROUP BY 1, 2
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'record', 'received', "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "activity_of_stream_messages"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "counted" RECORD;
BEGIN
  FOR "counted" IN
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC') AS "time", "destinationId", count(*)
    FROM inserted GROUP BY 1, 2, 3
  LOOP
    INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "total")
      VALUES ("counted"."projectId", "counted"."time", 'stream', "counted"."destinationId", "counted"."count");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_failures"("ofProject" text, "ofInstallation" text, "hasSucceeded" boolean, failures integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "isDecided" BOOLEAN;
BEGIN
  UPDATE "Installation" i
  SET "consecutiveFailures" = least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."consecutiveFailures" END)
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation"
    AND i."consecutiveFailures" <> least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."consecutiveFailures" END)
  RETURNING i."consecutiveFailures" = 3 OR i."healthStatus" = 'UNHEALTHY' INTO "isDecided";
  IF "isDecided" THEN
    PERFORM "refresh_health"("ofProject", ARRAY["ofInstallation"]);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION "health_of_ended_operations"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "ended" RECORD;
  "isChanged" BOOLEAN := FALSE;
BEGIN
  FOR "ended" IN
    SELECT DISTINCT "projectId", "installationId", "status" FROM after_update WHERE "status" <> 'IN_PROGRESS'
  LOOP
    PERFORM 1 FROM "Installation" i
    WHERE i."projectId" = "ended"."projectId" AND i."id" = "ended"."installationId"
      AND i."consecutiveFailures" <> CASE "ended"."status" WHEN 'SUCCESS' THEN 0 ELSE 3 END;
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

CREATE OR REPLACE FUNCTION "health_reason"("ofProject" text, "ofInstallation" text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  "state" RECORD;
  "unmapped" TEXT;
  "unsubscribed" TEXT;
BEGIN
  SELECT c."status", r."content" AS "required", g."content" AS "chosen", i."consecutiveFailures" INTO "state"
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
  RETURN CASE WHEN "state"."consecutiveFailures" >= 3 THEN 'Its last 3 operations have failed.' END;
END $$;

CREATE OR REPLACE FUNCTION "put_search_words"("ofProject" text, "ofKind" text, "ofRow" text, texts text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "word" TEXT;
BEGIN
  DELETE FROM "SearchWord" WHERE "projectId" = "ofProject" AND "rowId" = "ofRow";
  FOR "word" IN SELECT * FROM "search_words"("texts") LOOP
    INSERT INTO "SearchWord" ("projectId", "kind", "sortKey", "rowId")
      VALUES ("ofProject", "ofKind", "word" || ' ' || "ofRow", "ofRow") ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION "search_words"(texts text[]) RETURNS SETOF text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  whole TEXT;
  word TEXT;
  beginning TEXT;
  start INT;
  seen TEXT[] := '{}';
  starts TEXT[] := '{}';
BEGIN
  FOREACH whole IN ARRAY "texts" LOOP
    whole := lower(whole COLLATE "default");
    CONTINUE WHEN whole IS NULL OR whole = ANY(seen) OR cardinality(starts) >= 40;
    seen := seen || whole;
    start := 1;
    FOREACH word IN ARRAY string_to_array(
      translate(whole, E' \t\n\x0b\f\r!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~', repeat(' ', 38)), ' ')
    LOOP
      beginning := left(substr(whole, start), 64);
      IF word <> '' AND NOT beginning = ANY(starts) THEN starts := starts || beginning; END IF;
      start := start + length(word) + 1;
      EXIT WHEN start > 256 OR cardinality(starts) >= 40;
    END LOOP;
  END LOOP;
  RETURN QUERY SELECT unnest(starts);
END $$;
