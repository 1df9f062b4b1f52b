import { agentOperationInput, getAgentOperation } from '../../../domain/agent/agent-operation.ts';
import { parseOperationMetadata } from '../../../domain/operation/operation.ts';
import { toOperationStatus } from '../../../domain/operation/operation-status.ts';
import { defineTool } from '../tool.ts';

export const getOperation = defineTool({
  name: 'get_operation',
  description: 'Returns the outcome of a committed write by the operationId of commit_write.',
  effect: 'READ',
  callsProvider: false,
  input: agentOperationInput,
  async run(call, input) {
    const operation = await getAgentOperation(call, input);
    const status = toOperationStatus(operation.status);
    const { successfulRecordIds } = parseOperationMetadata(operation);
    return {
      text: `The operation is ${status}.`,
      data: {
        operationId: operation.id,
        status,
        result: operation.result,
        recordIds: successfulRecordIds,
      },
      untrusted: ['/result', '/recordIds'],
    };
  },
});
