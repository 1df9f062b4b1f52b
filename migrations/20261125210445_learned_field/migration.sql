-- CreateTable
CREATE TABLE "LearnedField" (
    "projectId" TEXT COLLATE "C" NOT NULL,
    "provider" TEXT NOT NULL,
    "module" TEXT NOT NULL,
    "objectName" TEXT NOT NULL,
    "fieldName" TEXT NOT NULL,
    "valueType" TEXT NOT NULL,
    "readOnly" BOOLEAN NOT NULL,
    "required" BOOLEAN NOT NULL,
    "lastSeenTime" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LearnedField_pkey" PRIMARY KEY ("projectId","provider","module","objectName","fieldName","valueType")
);

-- AddForeignKey
ALTER TABLE "LearnedField" ADD CONSTRAINT "LearnedField_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE NO ACTION;
