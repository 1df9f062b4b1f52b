import { describeAgentObject, describeObjectInput } from '../../../domain/agent/agent-contract.ts';
import { defineTool } from '../tool.ts';

export const describeObject = defineTool({
  name: 'describe_object',
  description:
    'Returns JSON Schemas of the object: a record that is read, and the values that propose_write accepts for CREATE and UPDATE. Null means not possible.',
  effect: 'READ',
  callsProvider: true,
  input: describeObjectInput,
  async run(call, input) {
    const { object, omittedFields, read, create, update } = await describeAgentObject(call, input);
    const { name, displayName, verbs, filterable } = object;
    const isWhole = omittedFields.length === 0;
    const rest = isWhole ? '' : ' Others did not fit: call again with omittedFields as fields.';
    const schemas = { read, create, update };
    return {
      text: `The fields of the object. It supports ${verbs.join(', ')}.${rest}`,
      data: {
        name,
        displayName,
        verbs,
        filterable,
        ...schemas,
        ...(!isWhole && { omittedFields }),
      },
      untrusted: ['/displayName', '/filterable', '/read', '/create', '/update'],
    };
  },
});
