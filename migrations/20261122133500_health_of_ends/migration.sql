-- Mostly no end changes a count: the installation works and goes on working, or fails for long. That is seen by its key alone,
-- before the ends are put in their order.
CREATE OR REPLACE FUNCTION "health_of_ended_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM after_update n
    CROSS JOIN LATERAL (
      SELECT i."failuresInARow" FROM "Installation" i
      WHERE i."projectId" = n."projectId" AND i."id" = n."installationId" LIMIT 1
    ) present
    WHERE n."status" <> 'IN_PROGRESS' AND present."failuresInARow" <> CASE n."status" WHEN 'SUCCESS' THEN 0 ELSE 3 END
  ) THEN
    RETURN NULL;
  END IF;
  PERFORM "count_failures"(e."projectId", e."installationId", e."lastSuccess" IS NOT NULL, e."failures")
  FROM (
    SELECT "projectId", "installationId", "lastSuccess",
      (count(*) FILTER (WHERE "status" = 'FAILURE' AND "id" > coalesce("lastSuccess", '')))::int AS "failures"
    FROM (
      SELECT n."projectId", n."installationId", n."status", n."id",
        max(n."id") FILTER (WHERE n."status" = 'SUCCESS') OVER (PARTITION BY n."projectId", n."installationId") AS "lastSuccess"
      FROM after_update n JOIN before_update o ON o."id" = n."id"
      WHERE n."status" <> o."status" AND n."status" <> 'IN_PROGRESS'
    ) ended
    GROUP BY 1, 2, 3
    ORDER BY 2
  ) e;
  RETURN NULL;
END $$;
