-- DropIndex
DROP INDEX "Connection_authScheme_tokenExpireTime_idx";

-- AlterTable
ALTER TABLE "Connection" ADD COLUMN     "refreshDueTime" TIMESTAMPTZ(3);
ALTER TABLE "Connection" ALTER COLUMN "refreshDueTime" SET DEFAULT CURRENT_TIMESTAMP;

-- Rows that are stored already, two minutes before their tokens expire. Citus accepts only immutable operators here, and
-- subtracting an interval from a time with a time zone is not immutable.
UPDATE "Connection" SET "refreshDueTime" = greatest(
  ("tokenExpireTime" AT TIME ZONE 'UTC' - interval '2 minutes') AT TIME ZONE 'UTC', "refreshRetryTime")
WHERE "tokenExpireTime" IS NOT NULL AND "authScheme" IN ('OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE');

-- CreateIndex
CREATE INDEX "Connection_refreshDueTime_idx" ON "Connection"("refreshDueTime") WHERE ("refreshDueTime" IS NOT NULL);
