-- AlterTable
ALTER TABLE "Connection" ADD COLUMN     "badCredentialsSince" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "Installation" ADD COLUMN     "unhealthySince" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "InstalledObject" ADD COLUMN     "pausedSince" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "Acknowledgement" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT NOT NULL,
    "subjectId" TEXT COLLATE "C" NOT NULL,
    "objectName" TEXT NOT NULL DEFAULT '',
    "lastTime" TIMESTAMPTZ(3) NOT NULL,
    "acknowledgedBy" TEXT NOT NULL,
    "destinationId" TEXT COLLATE "C",
    "connectionId" TEXT COLLATE "C",
    "installationId" TEXT COLLATE "C",
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "Acknowledgement_pkey" PRIMARY KEY ("projectId","kind","subjectId","objectName")
);

-- CreateIndex
CREATE INDEX "Acknowledgement_projectId_destinationId_idx" ON "Acknowledgement"("projectId", "destinationId") WHERE ("destinationId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Acknowledgement_projectId_connectionId_idx" ON "Acknowledgement"("projectId", "connectionId") WHERE ("connectionId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Acknowledgement_projectId_installationId_idx" ON "Acknowledgement"("projectId", "installationId") WHERE ("installationId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "Acknowledgement_createTime_idx" ON "Acknowledgement"("createTime");

-- AddForeignKey
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_destinationId_fkey" FOREIGN KEY ("projectId", "destinationId") REFERENCES "Destination"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_connectionId_fkey" FOREIGN KEY ("projectId", "connectionId") REFERENCES "Connection"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Acknowledgement" ADD CONSTRAINT "Acknowledgement_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId") REFERENCES "Installation"("projectId", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- As before, and remembers since when an installation is unhealthy. The time is a variable, because Citus refuses functions like
-- now() inside CASE.
CREATE OR REPLACE FUNCTION "refresh_health"("ofProject" TEXT, "ids" TEXT[]) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  "ofInstallation" TEXT;
  "reason" TEXT;
  "time" TIMESTAMPTZ := statement_timestamp();
BEGIN
  PERFORM 1 FROM "Installation" WHERE "projectId" = "ofProject" AND "id" = ANY("ids") ORDER BY "id" FOR NO KEY UPDATE;
  FOREACH "ofInstallation" IN ARRAY "ids" LOOP
    "reason" := "health_reason"("ofProject", "ofInstallation");
    UPDATE "Installation" i
    SET "healthReason" = "reason",
      "healthStatus" = (CASE WHEN "reason" IS NULL THEN 'HEALTHY' ELSE 'UNHEALTHY' END)::"InstallationHealth",
      "unhealthySince" = CASE WHEN "reason" IS NULL OR i."healthStatus" = 'UNHEALTHY' THEN i."unhealthySince" ELSE "time" END
    WHERE i."projectId" = "ofProject" AND i."id" = "ofInstallation" AND i."healthReason" IS DISTINCT FROM "reason";
  END LOOP;
END $$;
