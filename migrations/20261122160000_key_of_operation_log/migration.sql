-- The key of OperationLog begins with its project. A migration of its own: no table is locked while another one is indexed.
CREATE UNIQUE INDEX "OperationLog_of_project_key" ON "OperationLog"("projectId", "id");
ALTER TABLE "OperationLog" DROP CONSTRAINT "OperationLog_pkey", ADD CONSTRAINT "OperationLog_pkey" PRIMARY KEY USING INDEX "OperationLog_of_project_key";
CREATE INDEX "OperationLog_projectId_operationId_id_idx" ON "OperationLog"("projectId", "operationId", "id");
DROP INDEX "OperationLog_operationId_id_idx";
