import {
  AGENT_RECORDS_MAX,
  agentRecordsInput,
  listAgentRecords,
} from '../../../domain/agent/agent-records.ts';
import { defineTool } from '../tool.ts';

export const readRecords = defineTool({
  name: 'read_records',
  description:
    "Reads records of the customer's account as they are now: a page of all, those that match, or those with ids.",
  effect: 'READ',
  callsProvider: true,
  itemsMax: AGENT_RECORDS_MAX,
  input: agentRecordsInput,
  async run(call, input) {
    const { records, missingIds, remainingIds, nextCursor } = await listAgentRecords(call, input);
    const remarks = [
      `${records.length} records of ${input.objectName}.`,
      missingIds.length > 0 ? `${missingIds.length} ids do not exist.` : '',
      remainingIds.length > 0 ? 'Others did not fit: call again with remainingIds as ids.' : '',
      nextCursor === null ? '' : 'More follow: call again with nextCursor as after.',
    ];
    const data = {
      records: records.map(({ id, fields, omittedFields }) => ({
        id,
        fields,
        ...(omittedFields.length > 0 && { omittedFields }),
      })),
      ...(missingIds.length > 0 && { missingIds }),
      ...(remainingIds.length > 0 && { remainingIds }),
      nextCursor,
    };
    return {
      text: remarks.filter(Boolean).join(' '),
      data,
      untrusted: ['/records', '/remainingIds'],
    };
  },
});
