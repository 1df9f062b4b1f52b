/** The fields `node` and `nodes`, which return objects of any type by their ids. */
import { loadNodes, nodeIds } from '../../domain/overview/node.ts';
import { builder } from './schema-builder.ts';

export const Node = builder.nodeInterfaceRef();

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'The object of any type with this id. Null if it does not exist or the caller may not see it.',
    args: { id: t.arg.id({ required: true, description: 'The id of the object.' }) },
    resolve: async (_root, { id }, { call }) => (await loadNodes(call, [id]))[0],
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      'The objects with these ids, in the same order. Null in place of an object that does not exist or that the caller may not see.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: 'The ids of the objects, at most 100.',
        validate: { schema: nodeIds },
      }),
    },
    resolve: (_root, { ids }, { call }) => loadNodes(call, ids),
  }),
}));
