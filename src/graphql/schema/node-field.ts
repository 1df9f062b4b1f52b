/** node and nodes: any row by its id, for callers who may see it. */
import { findNodes, type NodeRow } from '../../domain/node.ts';
import { builder } from './schema-builder.ts';

export const Node = builder.nodeInterfaceRef();

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Anything with an id. Null where it does not exist for the caller.',
    args: { id: t.arg.id({ required: true, description: 'The id.' }) },
    resolve: async (_root, { id }, { call }) => (await findNodes(call, [id]))[0] as NodeRow | null,
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: 'Several nodes, in the order of the ids; null where one does not exist.',
    args: { ids: t.arg.idList({ required: true, description: 'Up to 100 ids.' }) },
    resolve: (_root, { ids }, { call }) => findNodes(call, ids),
  }),
}));
