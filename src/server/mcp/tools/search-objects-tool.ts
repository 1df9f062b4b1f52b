import { searchAgentObjects, searchObjectsInput } from '../../../domain/agent/agent-contract.ts';
import { defineTool } from '../tool.ts';

export const searchObjects = defineTool({
  name: 'search_objects',
  description:
    'Finds kinds of records (objects) of the customer by words of their names and fields. Start here. Then call describe_object.',
  effect: 'READ',
  callsProvider: true,
  input: searchObjectsInput,
  async run(call, input) {
    const { objects, total } = await searchAgentObjects(call, input);
    const shown = objects.map(({ name, displayName, verbs, fields }) => ({
      name,
      displayName,
      verbs,
      fieldCount: fields.length,
    }));
    const rest = total > objects.length ? ` of ${total}. Search by words to see others` : '';
    const text = `Objects: ${objects.length}${rest}.`;
    return { text, data: { objects: shown, total }, untrusted: ['/objects'] };
  },
});
