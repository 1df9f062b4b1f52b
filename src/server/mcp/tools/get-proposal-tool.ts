import { getProposal as getOwnProposal, proposalInput } from '../../../domain/proposal/proposal.ts';
import { showProposal } from '../shown-proposal.ts';
import { defineTool } from '../tool.ts';

export const getProposal = defineTool({
  name: 'get_proposal',
  description: 'Returns a proposal with its status. Poll it every few seconds while it is PENDING.',
  effect: 'READ',
  callsProvider: false,
  input: proposalInput,
  run: async (call, input) => showProposal(await getOwnProposal(call, input)),
});
