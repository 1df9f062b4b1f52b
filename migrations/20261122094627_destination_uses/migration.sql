-- CreateTable
CREATE TABLE "DestinationUse" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "destinationName" TEXT NOT NULL,
    "userId" TEXT COLLATE "C" NOT NULL,
    "integrationId" TEXT COLLATE "C",
    "installationId" TEXT COLLATE "C",

    CONSTRAINT "DestinationUse_pkey" PRIMARY KEY ("projectId","destinationName","userId")
);

-- CreateIndex
CREATE INDEX "DestinationUse_projectId_integrationId_idx" ON "DestinationUse"("projectId", "integrationId") WHERE ("integrationId" IS NOT NULL);

-- CreateIndex
CREATE INDEX "DestinationUse_projectId_installationId_idx" ON "DestinationUse"("projectId", "installationId") WHERE ("installationId" IS NOT NULL);

-- AddForeignKey
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_integrationId_fkey" FOREIGN KEY ("projectId", "integrationId") REFERENCES "Integration"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DestinationUse" ADD CONSTRAINT "DestinationUse_projectId_installationId_fkey" FOREIGN KEY ("projectId", "installationId") REFERENCES "Installation"("projectId", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What is in force already names destinations.
INSERT INTO "DestinationUse" ("projectId", "destinationName", "userId", "integrationId")
SELECT DISTINCT i."projectId", named #>> '{}', i."id", i."id"
FROM "Integration" i
JOIN "Revision" r ON r."id" = i."latestRevisionId",
  jsonb_path_query(r."content", '$.*.objects[*].destination') named
WHERE jsonb_typeof(named) = 'string';

INSERT INTO "DestinationUse" ("projectId", "destinationName", "userId", "installationId")
SELECT DISTINCT i."projectId", named #>> '{}', i."id", i."id"
FROM "Installation" i
JOIN "InstallationConfig" c ON c."id" = i."configId",
  jsonb_path_query(c."content", '$.*[*].destination') named
WHERE jsonb_typeof(named) = 'string';
