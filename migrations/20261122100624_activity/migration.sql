-- CreateTable
CREATE TABLE "ActivityDelta" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "number" BIGSERIAL NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "bucket" INTEGER NOT NULL DEFAULT 0,
    "first" INTEGER NOT NULL DEFAULT 0,
    "second" INTEGER NOT NULL DEFAULT 0,
    "third" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "ActivityDelta_pkey" PRIMARY KEY ("projectId","number")
);

-- CreateTable
CREATE TABLE "ActivityCount" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "grain" TEXT COLLATE "C" NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "first" INTEGER NOT NULL,
    "second" INTEGER NOT NULL,
    "third" INTEGER NOT NULL,
    "durations" INTEGER[],

    CONSTRAINT "ActivityCount_pkey" PRIMARY KEY ("projectId","grain","kind","time","key")
);

-- CreateIndex
CREATE INDEX "ActivityDelta_number_idx" ON "ActivityDelta"("number");

-- CreateIndex
CREATE INDEX "ActivityCount_projectId_grain_kind_key_time_idx" ON "ActivityCount"("projectId", "grain", "kind", "key", "time");

-- CreateIndex
CREATE INDEX "ActivityCount_time_idx" ON "ActivityCount"("time");

-- AddForeignKey
ALTER TABLE "ActivityDelta" ADD CONSTRAINT "ActivityDelta_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ActivityCount" ADD CONSTRAINT "ActivityCount_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Each statement that changes what is counted adds a few rows to the deltas, and commits with them: nothing is counted twice
-- or lost, and no row is waited for. A job adds them to the counts (docs/decisions/024-activity.md).
CREATE FUNCTION "activity_bucket"("ms" INTEGER) RETURNS INTEGER LANGUAGE sql IMMUTABLE AS $$
  SELECT least(63, greatest(0, ceil(4 * ln(greatest("ms", 1)) / ln(2))))::int
$$;

CREATE FUNCTION "activity_of_new_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
    SELECT "projectId", date_trunc('minute', "createTime", 'UTC'), 'operation', "actionType" || ' ' || "status", count(*)
    FROM inserted GROUP BY 1, 2, 4;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
    SELECT n."projectId", date_trunc('minute', n."createTime", 'UTC'), 'operation', s."key", sum(s."amount")
    FROM after_update n JOIN before_update o ON o."id" = n."id"
    CROSS JOIN LATERAL (VALUES (o."actionType" || ' ' || o."status", -1), (n."actionType" || ' ' || n."status", 1)) s("key", "amount")
    WHERE n."status" <> o."status" GROUP BY 1, 2, 4;
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first", "second")
    SELECT "projectId", date_trunc('minute', statement_timestamp(), 'UTC'), 'record', '', sum("read"), sum("written") FROM (
      SELECT n."projectId",
        greatest(0, coalesce((n."metadata"->'progress'->>'recordsProcessed')::int, 0)
          - coalesce((o."metadata"->'progress'->>'recordsProcessed')::int, 0)) AS "read",
        greatest(0, coalesce(jsonb_array_length(n."metadata"->'successfulRecordIds'), 0)
          - coalesce(jsonb_array_length(o."metadata"->'successfulRecordIds'), 0)) AS "written"
      FROM after_update n JOIN before_update o ON o."id" = n."id" WHERE n."metadata" <> o."metadata") records
    GROUP BY 1 HAVING sum("read") + sum("written") > 0;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_attempts"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "first", "second")
    SELECT a."projectId", date_trunc('minute', a."createTime", 'UTC'), 'delivery', d."destinationId",
      "activity_bucket"(a."durationMs"), count(*), count(a."error")
    FROM inserted a JOIN "Delivery" d ON d."projectId" = a."projectId" AND d."id" = a."deliveryId" GROUP BY 1, 2, 4, 5;
  RETURN NULL;
END $$;

CREATE FUNCTION "activity_of_provider_events"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "third")
    SELECT "projectId", date_trunc('minute', "receiveTime", 'UTC'), 'record', '', count(*) FROM inserted GROUP BY 1, 2;
  RETURN NULL;
END $$;

CREATE TRIGGER "activity_insert" AFTER INSERT ON "Operation" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION "activity_of_new_operations"();
CREATE TRIGGER "activity_update" AFTER UPDATE ON "Operation" REFERENCING OLD TABLE AS before_update NEW TABLE AS after_update
  FOR EACH STATEMENT EXECUTE FUNCTION "activity_of_operations"();
CREATE TRIGGER "activity_insert" AFTER INSERT ON "DeliveryAttempt" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION "activity_of_attempts"();
CREATE TRIGGER "activity_insert" AFTER INSERT ON "ProviderEvent" REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION "activity_of_provider_events"();

-- What is stored already.
INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first")
  SELECT "projectId", date_trunc('minute', "createTime", 'UTC'), 'operation', "actionType" || ' ' || "status", count(*)
  FROM "Operation" GROUP BY 1, 2, 4;
INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "first", "second")
  SELECT "projectId", date_trunc('minute', coalesce("updateTime", "createTime"), 'UTC'), 'record', '',
    sum(coalesce(("metadata"->'progress'->>'recordsProcessed')::int, 0)),
    sum(coalesce(jsonb_array_length("metadata"->'successfulRecordIds'), 0))
  FROM "Operation" GROUP BY 1, 2;
INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "bucket", "first", "second")
  SELECT a."projectId", date_trunc('minute', a."createTime", 'UTC'), 'delivery', d."destinationId",
    "activity_bucket"(a."durationMs"), count(*), count(a."error")
  FROM "DeliveryAttempt" a JOIN "Delivery" d ON d."projectId" = a."projectId" AND d."id" = a."deliveryId" GROUP BY 1, 2, 4, 5;
INSERT INTO "ActivityDelta" ("projectId", "time", "kind", "key", "third")
  SELECT "projectId", date_trunc('minute', "receiveTime", 'UTC'), 'record', '', count(*) FROM "ProviderEvent" GROUP BY 1, 2;
