import {
  listConsumerConnections,
  listGroupConnections,
} from '../../domain/connection/list/connection-list.ts';
import { eraseConsumer, eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { listGroupInstallations } from '../../domain/installation/installation-list.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import {
  consumerResource,
  groupResource,
  listConsumers,
  listGroups,
  updateConsumer,
  updateGroup,
} from '../../domain/project/parties.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { ConnectedAccount, Consumer, Group, Installation, Project } from '../schema/types.ts';

objectType(Group, groupResource);
objectType(Consumer, consumerResource);

addList(Project, 'groups', Group, listGroups, { filters: searchFilters });
addList(Project, 'consumers', Consumer, listConsumers, { filters: searchFilters });

addList(Group, 'connections', ConnectedAccount, listGroupConnections);
addList(Group, 'installations', Installation, listGroupInstallations);
addList(Consumer, 'connections', ConnectedAccount, listConsumerConnections);

addMutations('group', Group, { updateGroup });
addMutations('consumer', Consumer, { updateConsumer });
addDeletions({ eraseGroup, eraseConsumer });
