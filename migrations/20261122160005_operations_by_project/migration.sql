-- Lists of a project are ranges of indexes that begin with the project.
CREATE INDEX "Operation_projectId_installationId_id_idx" ON "Operation"("projectId", "installationId", "id");
CREATE INDEX "Operation_projectId_installationId_status_id_idx" ON "Operation"("projectId", "installationId", "status", "id");
CREATE INDEX "Operation_projectId_installationId_actionType_status_id_idx" ON "Operation"("projectId", "installationId", "actionType", "status", "id");
CREATE INDEX "Operation_projectId_integrationId_status_actionType_id_idx" ON "Operation"("projectId", "integrationId", "status", "actionType", "id");
CREATE INDEX "Operation_projectId_groupId_status_actionType_id_idx" ON "Operation"("projectId", "groupId", "status", "actionType", "id");
DROP INDEX "Operation_groupId_status_actionType_id_idx";
DROP INDEX "Operation_installationId_actionType_status_id_idx";
DROP INDEX "Operation_installationId_id_idx";
DROP INDEX "Operation_installationId_status_id_idx";
DROP INDEX "Operation_integrationId_status_actionType_id_idx";
