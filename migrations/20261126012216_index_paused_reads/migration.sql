-- CreateIndex
CREATE INDEX "InstalledObject_projectId_installationId_objectName_idx" ON "InstalledObject"("projectId", "installationId", "objectName") WHERE ("paused" = true);
