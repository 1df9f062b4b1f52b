/** Connects a sandbox account for a test customer, and installs the integration for the customer. */
import { graphql } from 'react-relay';
import type { testAccountInstallMutation } from '../../__generated__/testAccountInstallMutation.graphql.ts';
import type { testAccountMutation } from '../../__generated__/testAccountMutation.graphql.ts';
import { Action, Refusal } from '../parts/form.tsx';
import { useChange } from '../parts/queries.ts';

const GENERATE_CONNECTION = graphql`
  mutation testAccountMutation($input: GenerateConnectionInput!) {
    generateConnection(input: $input) {
      connection {
        id
      }
    }
  }
`;

const CREATE_INSTALLATION = graphql`
  mutation testAccountInstallMutation($input: CreateInstallationInput!) {
    createInstallation(input: $input) {
      installation {
        id
      }
    }
  }
`;

const GROUP_REF = 'test-customer';
/** The sandbox accepts every key that starts with `sandbox-key`. */
const SANDBOX_KEY = 'sandbox-key';

interface TestAccountProps {
  project: string;
  integration: string;
  /** The names of the objects that the integration reads. */
  objects: readonly string[];
}

export function TestAccount({ project, integration, objects }: TestAccountProps) {
  const connect = useChange<testAccountMutation>(GENERATE_CONNECTION);
  const install = useChange<testAccountInstallMutation>(CREATE_INSTALLATION);
  const group = { projectIdOrName: project, groupRef: GROUP_REF };
  const start = async () => {
    const connected = await connect.run({
      input: {
        ...group,
        groupName: 'Test customer',
        consumerRef: 'test-user',
        provider: 'sandbox',
        credentials: { apiKey: SANDBOX_KEY },
      },
    });
    if (!connected) return;
    const connectionId = connected.generateConnection.connection.id;
    // By default, an installation reads only required fields, and an integration from a template has none.
    const read = objects.map((objectName) => ({ objectName, selectedFieldsAuto: 'ALL' as const }));
    await install.run({
      input: { ...group, integrationIdOrName: integration, connectionId, config: { read } },
    });
  };
  return (
    <>
      <Action kind="primary" isPending={connect.isRunning || install.isRunning} onPress={start}>
        Connect test account
      </Action>
      <Refusal problem={connect.problem ?? install.problem} />
    </>
  );
}
