-- CreateEnum
CREATE TYPE "InstallationHealth" AS ENUM ('HEALTHY', 'UNHEALTHY');

-- AlterTable
ALTER TABLE "Installation" ADD COLUMN     "failuresInARow" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "healthReason" TEXT,
ADD COLUMN     "healthStatus" "InstallationHealth" NOT NULL DEFAULT 'HEALTHY';

-- CreateIndex
CREATE INDEX "Installation_projectId_healthStatus_id_idx" ON "Installation"("projectId", "healthStatus", "id");

-- CreateIndex
CREATE INDEX "Installation_integrationId_healthStatus_id_idx" ON "Installation"("integrationId", "healthStatus", "id");

-- Health is kept by triggers of all that decides it (docs/decisions/028-health-is-stored.md): the status of the connection, what the
-- config maps of what the integration requires, the subscriptions, and the last operations to end.

-- What a revision requires that only a customer can map.
CREATE FUNCTION "required_mappings"("content" JSONB) RETURNS TABLE ("objectName" TEXT, "mapToName" TEXT) LANGUAGE sql IMMUTABLE AS $$
  SELECT spec."value"->>'objectName', field."value"->>'mapToName'
  FROM jsonb_array_elements("content"->'read'->'objects') spec
  CROSS JOIN LATERAL jsonb_array_elements(spec."value"->'requiredFields') field
  WHERE field."value"->>'fieldName' IS NULL AND field."value"->>'default' IS NULL
$$;

-- Why an installation does not work, for people; null if it works.
CREATE FUNCTION "health_reason"("ofProject" TEXT, "ofInstallation" TEXT) RETURNS TEXT LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN c."status" = 'BAD_CREDENTIALS' THEN 'The provider refuses the credentials of its connection.'
    WHEN u."unmapped" IS NOT NULL THEN
      'Its config maps no field to what the integration requires: ' || u."unmapped" || '. Reads wait.'
    WHEN s."unsubscribed" IS NOT NULL THEN 'Its subscriptions do not work: ' || s."unsubscribed"
    WHEN i."failuresInARow" >= 3 THEN 'Its last 3 operations have failed.'
  END
  FROM "Installation" i
  LEFT JOIN "Connection" c ON c."projectId" = i."projectId" AND c."id" = i."connectionId"
  LEFT JOIN "Integration" n ON n."projectId" = i."projectId" AND n."id" = i."integrationId"
  LEFT JOIN "Revision" r ON r."projectId" = i."projectId" AND r."id" = n."latestRevisionId"
  LEFT JOIN "InstallationConfig" g ON g."projectId" = i."projectId" AND g."id" = i."configId"
  CROSS JOIN LATERAL (
    SELECT string_agg(required."objectName" || ': ' || required."mapToName", ', ') AS "unmapped"
    FROM "required_mappings"(r."content") required
    JOIN LATERAL jsonb_array_elements(g."content"->'read') choice
      ON choice."value"->>'objectName' = required."objectName"
    WHERE choice."value"->>'disabled' = 'false'
      AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(choice."value"->'fieldMappings') mapping
        WHERE mapping."value"->>'mapToName' = required."mapToName")
      AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(choice."value"->'dynamicMappings') mapping
        WHERE mapping."value"->>'mapToName' = required."mapToName" AND mapping."value"->>'fieldName' IS NOT NULL)
  ) u
  CROSS JOIN LATERAL (
    SELECT string_agg(t."objectName" || ': ' || coalesce(t."error", ''), ' ' ORDER BY t."objectName") AS "unsubscribed"
    FROM "ObjectSubscription" t
    WHERE t."projectId" = i."projectId" AND t."installationId" = i."id" AND t."isWanted"
      AND t."status" IN ('FAILED', 'UNSUPPORTED')
  ) s
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation"
$$;

-- Two changes that decide the same health take turns: each holds the row, and only then looks at what the other has committed.
CREATE FUNCTION "refresh_health"("ofProject" TEXT, "ids" TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Installation" WHERE "projectId" = "ofProject" AND "id" = ANY("ids") ORDER BY "id" FOR NO KEY UPDATE;
  UPDATE "Installation" i
  SET "healthReason" = found."reason",
    "healthStatus" = (CASE WHEN found."reason" IS NULL THEN 'HEALTHY' ELSE 'UNHEALTHY' END)::"InstallationHealth"
  FROM (SELECT id, "health_reason"("ofProject", id) AS "reason" FROM unnest("ids") id) found
  WHERE i."projectId" = "ofProject" AND i."id" = found.id AND i."healthReason" IS DISTINCT FROM found."reason";
END $$;

-- Some operations have ended: so many failures after the last success among them. Only an installation whose count
-- changes is held, so that nothing waits while all is well, or fails for long.
CREATE FUNCTION "count_failures"("ofProject" TEXT, "ofInstallation" TEXT, "hasSucceeded" BOOLEAN, "failures" INTEGER)
RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  "isDecided" BOOLEAN;
BEGIN
  UPDATE "Installation" i
  SET "failuresInARow" = least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."failuresInARow" END)
  WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation"
    AND i."failuresInARow" <> least(3, "failures" + CASE WHEN "hasSucceeded" THEN 0 ELSE i."failuresInARow" END)
  RETURNING i."failuresInARow" = 3 OR i."healthStatus" = 'UNHEALTHY' INTO "isDecided";
  IF "isDecided" THEN
    PERFORM "refresh_health"("ofProject", ARRAY["ofInstallation"]);
  END IF;
END $$;

CREATE FUNCTION "health_of_ended_operations"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
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

CREATE FUNCTION "health_of_operation"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "count_failures"(NEW."projectId", NEW."installationId", NEW."status" = 'SUCCESS', (NEW."status" = 'FAILURE')::int);
  RETURN NULL;
END $$;

CREATE FUNCTION "health_of_connection"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "refresh_health"(NEW."projectId", ARRAY(SELECT "id" FROM "Installation" WHERE "connectionId" = NEW."id"));
  RETURN NULL;
END $$;

-- Its connection is held, so that it does not turn bad unseen. The integration is held by whoever installs.
CREATE FUNCTION "health_of_installation"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Connection" WHERE "projectId" = NEW."projectId" AND "id" = NEW."connectionId" FOR SHARE;
  PERFORM "refresh_health"(NEW."projectId", ARRAY[NEW."id"]);
  RETURN NULL;
END $$;

-- A config is stored before or after it comes into force.
CREATE FUNCTION "health_of_config"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "refresh_health"(i."projectId", ARRAY[i."id"]) FROM "Installation" i
  WHERE i."projectId" = NEW."projectId" AND i."id" = NEW."installationId" AND i."configId" = NEW."id";
  RETURN NULL;
END $$;

-- If nothing has to be mapped, only those can change that did not work before.
CREATE FUNCTION "health_of_integration"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "refresh_health"(NEW."projectId", ARRAY(
    SELECT i."id" FROM "Installation" i WHERE i."integrationId" = NEW."id" AND (
      i."healthStatus" = 'UNHEALTHY' OR EXISTS (
        SELECT FROM "Revision" r CROSS JOIN LATERAL "required_mappings"(r."content")
        WHERE r."projectId" = NEW."projectId" AND r."id" = NEW."latestRevisionId"))));
  RETURN NULL;
END $$;

CREATE FUNCTION "health_of_subscription"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "changed" "ObjectSubscription" := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  PERFORM "refresh_health"("changed"."projectId", ARRAY["changed"."installationId"]);
  RETURN NULL;
END $$;

CREATE TRIGGER "health_insert" AFTER INSERT ON "Operation" FOR EACH ROW
  WHEN (NEW."status" <> 'IN_PROGRESS') EXECUTE FUNCTION "health_of_operation"();
CREATE TRIGGER "health_update" AFTER UPDATE ON "Operation" REFERENCING OLD TABLE AS before_update NEW TABLE AS after_update
  FOR EACH STATEMENT EXECUTE FUNCTION "health_of_ended_operations"();
CREATE TRIGGER "health_update" AFTER UPDATE OF "status" ON "Connection" FOR EACH ROW
  WHEN ((OLD."status" = 'BAD_CREDENTIALS') <> (NEW."status" = 'BAD_CREDENTIALS')) EXECUTE FUNCTION "health_of_connection"();
CREATE TRIGGER "health_insert" AFTER INSERT ON "Installation" FOR EACH ROW EXECUTE FUNCTION "health_of_installation"();
CREATE TRIGGER "health_update" AFTER UPDATE OF "connectionId", "configId" ON "Installation" FOR EACH ROW
  WHEN (OLD."connectionId" <> NEW."connectionId" OR OLD."configId" <> NEW."configId")
  EXECUTE FUNCTION "health_of_installation"();
CREATE TRIGGER "health_insert" AFTER INSERT ON "InstallationConfig" FOR EACH ROW EXECUTE FUNCTION "health_of_config"();
CREATE TRIGGER "health_update" AFTER UPDATE OF "latestRevisionId" ON "Integration" FOR EACH ROW
  WHEN (OLD."latestRevisionId" <> NEW."latestRevisionId") EXECUTE FUNCTION "health_of_integration"();
CREATE TRIGGER "health_insert" AFTER INSERT ON "ObjectSubscription" FOR EACH ROW
  WHEN (NEW."isWanted" AND NEW."status" IN ('FAILED', 'UNSUPPORTED')) EXECUTE FUNCTION "health_of_subscription"();
CREATE TRIGGER "health_update" AFTER UPDATE OF "isWanted", "status", "error" ON "ObjectSubscription" FOR EACH ROW
  WHEN (OLD."isWanted" <> NEW."isWanted" OR OLD."status" <> NEW."status" OR OLD."error" IS DISTINCT FROM NEW."error")
  EXECUTE FUNCTION "health_of_subscription"();
CREATE TRIGGER "health_delete" AFTER DELETE ON "ObjectSubscription" FOR EACH ROW
  WHEN (OLD."isWanted" AND OLD."status" IN ('FAILED', 'UNSUPPORTED')) EXECUTE FUNCTION "health_of_subscription"();

-- What is stored already. The newest operations decide, as far as there are any.
UPDATE "Installation" i SET "failuresInARow" = (
  SELECT count(*) FROM (
    SELECT FROM "Operation" o WHERE o."installationId" = i."id" AND o."status" = 'FAILURE' AND o."id" > coalesce((
      SELECT s."id" FROM "Operation" s WHERE s."installationId" = i."id" AND s."status" = 'SUCCESS'
      ORDER BY s."id" DESC LIMIT 1), '')
    LIMIT 3) newest);
UPDATE "Installation" i SET "healthReason" = found."reason", "healthStatus" = 'UNHEALTHY'
FROM (SELECT "projectId", "id", "health_reason"("projectId", "id") AS "reason" FROM "Installation") found
WHERE i."projectId" = found."projectId" AND i."id" = found."id" AND found."reason" IS NOT NULL;
