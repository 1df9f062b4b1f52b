-- DropIndex
DROP INDEX "Connection_projectId_consumerId_id_idx";

-- DropIndex
DROP INDEX "Connection_projectId_groupId_id_idx";

-- DropIndex
DROP INDEX "Connection_projectId_provider_id_idx";

-- DropIndex
DROP INDEX "Connection_tokenExpireTime_idx";

-- DropIndex
DROP INDEX "Operation_installationId_actionType_id_idx";

-- DropIndex
DROP INDEX "Operation_projectId_actionType_id_idx";

-- DropIndex
DROP INDEX "Operation_projectId_status_id_idx";

-- CreateIndex
CREATE INDEX "Connection_projectId_groupId_status_id_idx" ON "Connection"("projectId", "groupId", "status", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_consumerId_status_id_idx" ON "Connection"("projectId", "consumerId", "status", "id");

-- CreateIndex
CREATE INDEX "Connection_projectId_provider_status_id_idx" ON "Connection"("projectId", "provider", "status", "id");

-- CreateIndex
CREATE INDEX "Connection_authScheme_tokenExpireTime_idx" ON "Connection"("authScheme", "tokenExpireTime");

-- CreateIndex
CREATE INDEX "Operation_installationId_actionType_status_id_idx" ON "Operation"("installationId", "actionType", "status", "id");
