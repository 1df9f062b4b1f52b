import { commitProposal } from '../../../domain/proposal/commit-proposal.ts';
import { toProposalData } from '../shown-proposal.ts';
import { defineTool } from '../tool.ts';

export const commitWrite = defineTool({
  name: 'commit_write',
  description:
    'Writes an APPROVED proposal to the provider, once, if the record has not changed since.',
  effect: 'COMMIT',
  callsProvider: true,
  input: commitProposal.input,
  async run(call, input) {
    const { proposal, operation, result } = await commitProposal(call, input);
    const { success, recordId, errors } = result ?? { success: null, recordId: null, errors: [] };
    const data = {
      proposal: toProposalData(proposal),
      operationId: operation.id,
      success,
      recordId,
      errors,
    };
    return {
      text: describeOutcome(success),
      data,
      untrusted: ['/proposal/fields', '/proposal/decisionReason', '/recordId', '/errors'],
    };
  },
});

/** `success` is null while the write is running. */
function describeOutcome(success: boolean | null): string {
  if (success === null)
    return 'The write is running. Call get_operation with the operationId later.';
  if (success) return 'The record was written.';
  return 'The provider refused the write. Read the errors, then propose a corrected write.';
}
