import { createProposal } from '../../../domain/proposal/create-proposal.ts';
import { showProposal } from '../shown-proposal.ts';
import { defineTool } from '../tool.ts';

export const proposeWrite = defineTool({
  name: 'propose_write',
  description:
    'Proposes to create, update or delete one record. Call describe_object first. Nothing is written before an approval and commit_write.',
  effect: 'PROPOSE',
  callsProvider: true,
  input: createProposal.input,
  run: async (call, input) => showProposal(await createProposal(call, input)),
});
