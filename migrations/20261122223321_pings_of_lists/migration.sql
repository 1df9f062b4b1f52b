-- CreateTable
CREATE TABLE "StreamPing" (
    "id" TEXT COLLATE "C" NOT NULL,
    "projectId" TEXT COLLATE "C" NOT NULL,
    "providerRef" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "secretSealed" TEXT NOT NULL,
    "checkTime" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "StreamPing_pkey" PRIMARY KEY ("projectId","id")
);

-- AddForeignKey
ALTER TABLE "StreamPing" ADD CONSTRAINT "StreamPing_projectId_id_fkey" FOREIGN KEY ("projectId", "id") REFERENCES "ProviderStream"("projectId", "connectionId") ON DELETE CASCADE ON UPDATE NO ACTION;
