/** Removes what the person has set up: first the installations that use the account, then the connection. */
import { graphql } from 'react-relay';
import type { disconnectMutation } from '../__generated__/disconnectMutation.graphql.ts';
import type { disconnectUninstallMutation } from '../__generated__/disconnectUninstallMutation.graphql.ts';
import { Confirm } from '../src/parts/dialog.tsx';
import { useChange } from '../src/parts/queries.ts';
import { useCustomerProblem } from './customer-problem.ts';
import { useMessages } from './messages.ts';

const DELETE_INSTALLATION = graphql`
  mutation disconnectUninstallMutation($input: DeleteInstallationInput!) {
    deleteInstallation(input: $input) {
      deletedId
    }
  }
`;

const DELETE_CONNECTION = graphql`
  mutation disconnectMutation($input: DeleteConnectionInput!) {
    deleteConnection(input: $input) {
      deletedId
    }
  }
`;

interface DisconnectProps {
  projectId: string;
  connectionId: string;
  /** Installations that use the connection. */
  installationIds: readonly string[];
  /** The provider's display name. */
  providerName: string;
}

export function Disconnect({
  projectId,
  connectionId,
  installationIds,
  providerName,
}: DisconnectProps) {
  const messages = useMessages();
  const uninstall = useChange<disconnectUninstallMutation>(DELETE_INSTALLATION);
  const disconnect = useChange<disconnectMutation>(DELETE_CONNECTION);
  const uninstallAndDisconnect = async () => {
    for (const installationId of installationIds) {
      const input = { projectIdOrName: projectId, installationId };
      if (!(await uninstall.run({ input }))) return null;
    }
    return disconnect.run({ input: { projectIdOrName: projectId, connectionId } });
  };
  const control = {
    problem: useCustomerProblem(uninstall.problem ?? disconnect.problem),
    isRunning: uninstall.isRunning || disconnect.isRunning,
  };
  return (
    <Confirm
      triggerLabel={messages.disconnect}
      title={messages.confirmDisconnect(providerName)}
      cancel={messages.cancel}
      change={control}
      onConfirm={uninstallAndDisconnect}
    >
      <p>{messages.disconnectEffect}</p>
    </Confirm>
  );
}
