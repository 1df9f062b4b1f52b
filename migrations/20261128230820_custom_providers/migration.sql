-- AlterTable
ALTER TABLE "Connection" ADD COLUMN     "credentialTargets" TEXT;

-- AlterTable
ALTER TABLE "ProviderApp" ADD COLUMN     "credentialTargets" TEXT;

-- CreateTable
CREATE TABLE "CustomProvider" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "createTime" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updateTime" TIMESTAMPTZ(3),

    CONSTRAINT "CustomProvider_pkey" PRIMARY KEY ("projectId","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "CustomProvider_projectId_name_key" ON "CustomProvider"("projectId", "name");

-- AddForeignKey
ALTER TABLE "CustomProvider" ADD CONSTRAINT "CustomProvider_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
