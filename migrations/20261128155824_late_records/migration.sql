-- AlterTable
ALTER TABLE "ReadRun" ADD COLUMN     "cursorMark" TEXT,
ADD COLUMN     "furthestPage" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "DeliveredEntries" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "installationId" TEXT COLLATE "C" NOT NULL,
    "objectName" TEXT NOT NULL,
    "hashes" BYTEA NOT NULL,

    CONSTRAINT "DeliveredEntries_pkey" PRIMARY KEY ("projectId","installationId","objectName")
);

-- AddForeignKey
ALTER TABLE "DeliveredEntries" ADD CONSTRAINT "DeliveredEntries_projectId_installationId_objectName_fkey" FOREIGN KEY ("projectId", "installationId", "objectName") REFERENCES "InstalledObject"("projectId", "installationId", "objectName") ON DELETE CASCADE ON UPDATE NO ACTION;
