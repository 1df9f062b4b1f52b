import { listConsumerConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseConsumer } from '../../domain/erasure/erase-subject.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { consumerResource, listConsumers } from '../../domain/project/consumer.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { ConnectedAccount, Consumer, Project } from '../schema/types.ts';

objectType(Consumer, consumerResource);

addList(Project, 'consumers', Consumer, listConsumers, { filters: searchFilters });

addList(Consumer, 'connections', ConnectedAccount, listConsumerConnections);

addDeletions({ eraseConsumer });
