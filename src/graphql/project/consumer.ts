import { listConsumerConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseConsumer } from '../../domain/erasure/erase-subject.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { consumerResource, listConsumers } from '../../domain/project/consumer.ts';
import { listField } from '../schema/fields.ts';
import { addDeletions } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { ConnectedAccounts, Consumer, Consumers, Project } from '../schema/types.ts';

objectType(Consumer, consumerResource);

builder.objectField(Project, 'consumers', (t) =>
  listField(t, Consumers, {
    args: parsedArgs(t.arg, searchFilters),
    list: listConsumers,
  }),
);

builder.objectField(Consumer, 'connections', (t) =>
  listField(t, ConnectedAccounts, {
    list: listConsumerConnections,
  }),
);

addDeletions({ eraseConsumer });
