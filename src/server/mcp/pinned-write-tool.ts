import { z } from 'zod';
import type { PinnedWrite } from '../../domain/agent/agent-contract.ts';
import { createProposal } from '../../domain/proposal/create-proposal.ts';
import { showProposal } from './shown-proposal.ts';
import { defineTool, type Tool } from './tool.ts';

const EFFECTS = {
  CREATE: 'a new record',
  UPDATE: 'an update of a record',
  DELETE: 'the deletion of a record',
} as const satisfies Record<PinnedWrite['type'], string>;

const { projectIdOrName, recordId, values, reason } = createProposal.input.shape;
const requiredId = { recordId: recordId.unwrap().unwrap() };
const requiredValues = { values: values.unwrap().unwrap() };

const INPUTS = {
  CREATE: z.object({ projectIdOrName, ...requiredValues, reason }),
  UPDATE: z.object({ projectIdOrName, ...requiredId, ...requiredValues, reason }),
  DELETE: z.object({ projectIdOrName, ...requiredId, reason }),
};

/** Creates a tool that proposes one kind of write. Its values have the schema that describe_object returns. */
export function createPinnedTool({ name, type, objectName, valuesSchema }: PinnedWrite): Tool {
  return defineTool<z.ZodObject>({
    name,
    description: `Proposes ${EFFECTS[type]} of ${JSON.stringify(objectName)}, like propose_write.`,
    effect: 'PROPOSE',
    callsProvider: true,
    input: INPUTS[type],
    ...(valuesSchema && { schemas: { values: valuesSchema } }),
    run: async (call, input) =>
      showProposal(await createProposal(call, { ...input, objectName, type })),
  });
}
