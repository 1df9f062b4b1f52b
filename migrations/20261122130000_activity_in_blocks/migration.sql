-- The counts of many buckets go into one row, and what percentiles are computed from into a table of its own: a page of 90 days is
-- some hundred rows instead of ten thousand (docs/decisions/024-activity.md).
ALTER TABLE "ActivityCount" RENAME TO "ActivityBucket";
ALTER TABLE "ActivityBucket" DROP CONSTRAINT "ActivityCount_pkey";
ALTER TABLE "ActivityBucket" DROP CONSTRAINT "ActivityCount_projectId_fkey";
DROP INDEX "ActivityCount_projectId_grain_kind_key_time_idx";
DROP INDEX "ActivityCount_time_idx";

-- CreateTable
CREATE TABLE "ActivityCount" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "grain" TEXT COLLATE "C" NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "first" INTEGER[],
    "second" INTEGER[],
    "third" INTEGER[],
    "p50Ms" INTEGER[],
    "p95Ms" INTEGER[],
    "p99Ms" INTEGER[],

    CONSTRAINT "ActivityCount_pkey" PRIMARY KEY ("projectId","grain","kind","time","key")
);

-- CreateTable
CREATE TABLE "ActivityHistogram" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "grain" TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    "time" TIMESTAMPTZ(3) NOT NULL,
    "durations" INTEGER[],

    CONSTRAINT "ActivityHistogram_pkey" PRIMARY KEY ("projectId","grain","key","time")
);

-- CreateIndex
CREATE INDEX "ActivityCount_projectId_grain_kind_key_time_idx" ON "ActivityCount"("projectId", "grain", "kind", "key", "time");

-- CreateIndex
CREATE INDEX "ActivityCount_time_idx" ON "ActivityCount"("time");

-- CreateIndex
CREATE INDEX "ActivityHistogram_time_idx" ON "ActivityHistogram"("time");

-- AddForeignKey
ALTER TABLE "ActivityCount" ADD CONSTRAINT "ActivityCount_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ActivityHistogram" ADD CONSTRAINT "ActivityHistogram_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The row of a bucket, by when that begins.
CREATE FUNCTION "activity_block"("grain" TEXT, "time" TIMESTAMPTZ) RETURNS TIMESTAMPTZ LANGUAGE sql STABLE AS $$
  SELECT date_trunc(CASE "grain" WHEN 'minute' THEN 'hour' WHEN 'hour' THEN 'day' ELSE 'month' END, "time", 'UTC')
$$;

-- The place of a bucket in its row, from 1.
CREATE FUNCTION "activity_place"("grain" TEXT, "time" TIMESTAMPTZ) RETURNS INTEGER LANGUAGE sql STABLE AS $$
  SELECT CASE "grain"
    WHEN 'minute' THEN extract(minute FROM "time" AT TIME ZONE 'UTC') + 1
    WHEN 'hour' THEN extract(hour FROM "time" AT TIME ZONE 'UTC') + 1
    ELSE extract(day FROM "time" AT TIME ZONE 'UTC')
  END::int
$$;

-- Values at their places, and 0 where there is none.
CREATE FUNCTION "activity_line"("places" INTEGER[], "given" INTEGER[]) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."value", 0) ORDER BY n)
  FROM generate_series(1, (SELECT max(p) FROM unnest("places") p)) n
  LEFT JOIN unnest("places", "given") v("place", "value") ON v."place" = n
$$;

CREATE FUNCTION "activity_sum"("a" INTEGER[], "b" INTEGER[]) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(v."a", 0) + coalesce(v."b", 0) ORDER BY v."place")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "place")
$$;

-- The first, with what is not 0 of the other in its place.
CREATE FUNCTION "activity_over"("a" INTEGER[], "b" INTEGER[]) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(coalesce(nullif(v."b", 0), v."a", 0) ORDER BY v."place")
  FROM unnest("a", "b") WITH ORDINALITY v("a", "b", "place")
$$;

-- The durations in milliseconds that 50, 95 and 99 % took at most: the ends of steps, four for each doubling
-- (activity_bucket), so at most a fifth too long. 0 if there were none.
CREATE FUNCTION "activity_percentiles"("durations" INTEGER[]) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 50), 0),
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 95), 0),
    coalesce(min(s."ms") FILTER (WHERE s."seen" * 100 >= s."total" * 99), 0)]
  FROM (
    SELECT round(2 ^ ((v."step" - 1) / 4.0))::int AS "ms", sum(v."count") OVER (ORDER BY v."step") AS "seen",
      sum(v."count") OVER () AS "total"
    FROM unnest("durations") WITH ORDINALITY v("count", "step")
  ) s
  WHERE s."total" > 0
$$;

-- What is counted already.
INSERT INTO "ActivityHistogram" ("projectId", "grain", "key", "time", "durations")
  SELECT "projectId", "grain", "key", "time", "durations" FROM "ActivityBucket" WHERE "kind" = 'delivery';
INSERT INTO "ActivityCount" ("projectId", "grain", "time", "kind", "key", "first", "second", "third", "p50Ms", "p95Ms", "p99Ms")
  SELECT b."projectId", b."grain", "activity_block"(b."grain", b."time"), b."kind", b."key",
    "activity_line"(array_agg(s."place"), array_agg(b."first")), "activity_line"(array_agg(s."place"), array_agg(b."second")),
    "activity_line"(array_agg(s."place"), array_agg(b."third")),
    CASE WHEN b."kind" = 'delivery' THEN "activity_line"(array_agg(s."place"), array_agg(p."ms"[1])) ELSE '{}' END,
    CASE WHEN b."kind" = 'delivery' THEN "activity_line"(array_agg(s."place"), array_agg(p."ms"[2])) ELSE '{}' END,
    CASE WHEN b."kind" = 'delivery' THEN "activity_line"(array_agg(s."place"), array_agg(p."ms"[3])) ELSE '{}' END
  FROM "ActivityBucket" b
  CROSS JOIN LATERAL (SELECT "activity_place"(b."grain", b."time")) s("place")
  CROSS JOIN LATERAL (SELECT "activity_percentiles"(b."durations")) p("ms")
  GROUP BY 1, 2, 3, 4, 5;

-- DropTable
DROP TABLE "ActivityBucket";
