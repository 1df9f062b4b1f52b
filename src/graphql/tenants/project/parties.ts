import { searchFilters } from '../../../domain/access/paging/search.ts';
import {
  listConsumerConnections,
  listGroupConnections,
} from '../../../domain/connections/connection/list/connection-list.ts';
import { listGroupInstallations } from '../../../domain/integrations/installation/installation-list.ts';
import {
  consumerResource,
  groupResource,
  listConsumers,
  listGroups,
  updateConsumer,
  updateGroup,
} from '../../../domain/tenants/project/parties.ts';
import { eraseConsumer, eraseGroup } from '../../../domain/upkeep/erase-subject.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { ConnectedAccount, Consumer, Group, Installation, Project } from '../../schema/types.ts';

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
