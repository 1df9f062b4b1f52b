-- AlterTable
ALTER TABLE "Connection" ADD COLUMN     "refreshRejectedTime" TIMESTAMPTZ(3),
ADD COLUMN     "unrefreshableSince" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "Connection_projectId_id_idx" ON "Connection"("projectId", "id") WHERE ("unrefreshableSince" IS NOT NULL);
