/** The sign-in of people to the console, their sessions, and the members of an org, in a browser. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createTestApp } from '../support/app.ts';
import { launchBrowser } from '../support/browser.ts';
import { expectAccessible, expectFitsScreens } from '../support/console.ts';
import { describeInBrowser } from '../support/stage.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/wire/openid-provider.ts';

const PASSWORD = 'correct horse battery';
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' };
const BRIAN = { sub: 'brian', email: 'brian@example.com', email_verified: true, name: 'Brian' };

async function openSignInStage() {
  await using opening = new AsyncDisposableStack();
  const provider = opening.use(await startOpenIdProvider());
  const testing = opening.use(
    await createTestApp({
      env: {
        SIGN_IN_ISSUERS: JSON.stringify([{ ...provider.settings, signOutAtProvider: true }]),
        LOCAL_ISSUER_PASSWORD: PASSWORD,
        TRUSTED_DOCUMENTS: 'only',
      },
    }),
  );
  const { url } = await testing.app.start();
  const browser = await launchBrowser();
  opening.defer(() => browser.close());
  const openedStage = opening.move();
  return {
    testing,
    url,
    provider,
    browser,
    [Symbol.asyncDispose]: () => openedStage.disposeAsync(),
  };
}

describeInBrowser(openSignInStage, (getStage) => {
  async function openTab(person: OpenIdProvider['person'], path = ''): Promise<Page> {
    const { url, provider, browser } = getStage();
    provider.person = person;
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/console${path}`);
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    return page;
  }

  /** Creates an org with a project, whose only member is the person, as an admin. */
  async function createProject(
    { sub, email }: OpenIdProvider['person'],
    name: string,
  ): Promise<void> {
    const { prisma } = getStage().testing.app.services.database;
    const builder = await prisma.builder.findUniqueOrThrow({
      where: { idpProvider_idpRef: { idpProvider: getStage().provider.url, idpRef: sub } },
    });
    expect(builder.primaryEmail).toBe(email);
    const { orgId } = await getStage().testing.createTenant(name);
    await prisma.orgMember.deleteMany({ where: { orgId } });
    await prisma.orgMember.create({ data: { orgId, builderId: builder.id, role: 'ADMIN' } });
    await prisma.org.update({ where: { id: orgId }, data: { label: `Org of ${name}` } });
    getStage().testing.app.services.viewers.clear();
  }

  const findProjectName = async (orgLabel: string) => {
    const { prisma } = getStage().testing.app.services.database;
    const { name } = await prisma.project.findFirstOrThrow({ where: { org: { label: orgLabel } } });
    return name;
  };

  test('signs in at an OpenID provider, shares the session among tabs, and signs out of all', async () => {
    const page = await openTab(ADA);
    await page.getByRole('heading', { level: 1, name: /project/i }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([
      { name: 'console-session', httpOnly: true, sameSite: 'Strict', path: '/' },
    ]);
    expect(await page.evaluate(() => [sessionStorage.length, document.cookie])).toEqual([0, '']);

    await createProject(ADA, 'ada');
    const project = await findProjectName('Org of ada');
    const otherTab = await page.context().newPage();
    const socket = otherTab.waitForEvent('websocket');
    const admitted = socket.then((opened) =>
      opened.waitForEvent('framereceived', ({ payload }) =>
        String(payload).includes('connection_ack'),
      ),
    );
    await otherTab.goto(`${getStage().url}/console/${project}/events`);
    await otherTab.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await admitted;

    await page.goto(`${getStage().url}/console/${project}`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await otherTab.getByText('Your session has ended. Sign in again.').waitFor();
    await expectAccessible(otherTab);
    expect(await page.context().cookies()).toEqual([]);
    expect(getStage().provider.signOuts).toHaveLength(1);

    await otherTab.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await otherTab.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.context().close();
  });

  test('shows the sign-ins, and the reason why the provider refused one', async () => {
    const { url, provider, browser } = getStage();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/console`);
    await page.getByText('Sign in with an API key or a token').click();
    await page.getByLabel('API key or bearer token').waitFor();
    await expectFitsScreens(page);

    provider.denial = 'access_denied';
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await page.getByRole('heading', { name: 'Not signed in' }).waitFor();
    await expectFitsScreens(page);
    provider.denial = null;
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await page.context().close();
  });

  test('signs in with the password of the local issuer', async () => {
    const { url, browser } = getStage();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}/console`);
    await page.getByText('For development: everyone shares it.').waitFor();
    const enter = async (password: string) => {
      await page.getByLabel('Email address').fill('grace@example.com');
      await page.getByLabel('Password of the local issuer').fill(password);
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    await enter('wrong');
    await page.getByRole('alert').getByText('The password is wrong.').waitFor();
    await enter(PASSWORD);
    await page.getByRole('heading', { level: 1, name: /project/i }).waitFor();
    await page.context().close();
  });

  test('warns two minutes before the session ends, extends it, and notices its end', async () => {
    const page = await openTab(ADA, '/?all');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    let session: object | null = {
      name: null,
      email: null,
      secondsLeft: 120,
      isExtensible: true,
    };
    await page.route('**/session', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ json: { issuers: [], hasLocalSignIn: true, session } })
        : route.continue(),
    );
    await page.reload();
    const dialog = page.getByRole('alertdialog', { name: 'Your session is about to end' });
    await dialog.getByText(/^[12]:\d\d$/).waitFor();
    await expectFitsScreens(page);
    await dialog.getByRole('button', { name: 'Stay signed in' }).click();
    await dialog.waitFor({ state: 'detached' });

    session = { name: null, email: null, secondsLeft: 0, isExtensible: false };
    await page.reload();
    await dialog.getByText('It can no longer be extended.').waitFor();
    session = null;
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    await page.context().close();
  });

  test('invites a member, who lacks the actions of admins until an admin makes them one, and leaves', async () => {
    const page = await openTab(ADA);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await createProject(ADA, 'shared');
    const project = await findProjectName('Org of shared');
    await page.goto(`${getStage().url}/console/${project}/members`);
    const members = page.getByRole('table');
    await members.getByText('Ada Lovelace').waitFor();
    await page.getByLabel('Email address').fill(BRIAN.email);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    await page.getByText('You are the last admin').waitFor();
    expect(await page.getByRole('button', { name: 'Leave' }).count()).toBe(0);
    await expectFitsScreens(page);

    const invitedTab = await openTab(BRIAN);
    await invitedTab.getByRole('button', { name: 'Accept the invite to Org of shared' }).waitFor();
    await expectFitsScreens(invitedTab);
    await invitedTab.getByRole('button', { name: 'Accept the invite to Org of shared' }).click();
    await invitedTab.goto(`${getStage().url}/console/${project}/members`);
    const ownRow = invitedTab.getByRole('row', { name: /Brian/ });
    await ownRow.getByRole('cell', { name: 'Member', exact: true }).waitFor();
    await ownRow.getByRole('button', { name: 'Leave' }).waitFor();
    await invitedTab.getByText('Only org admins can invite people').waitFor();
    await invitedTab.getByText('Only org admins can claim').waitFor();
    for (const name of ['Remove', 'Invite', 'Claim domain', /Role of/]) {
      expect([name, await invitedTab.getByRole('button', { name }).count()]).toEqual([name, 0]);
    }
    await expectFitsScreens(invitedTab);
    await invitedTab.goto(`${getStage().url}/console/${project}/settings`);
    await invitedTab.getByText('Only org admins can delete the project.').waitFor();
    await invitedTab.getByRole('button', { name: 'Create key' }).click();
    await invitedTab.getByText('Only org admins can give org:write.').waitFor();
    expect(await invitedTab.getByRole('checkbox', { name: 'org:write' }).count()).toBe(0);

    await page.reload();
    await page.getByRole('button', { name: /Role of Brian/ }).click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await page.getByRole('button', { name: 'Leave' }).waitFor();
    await expectFitsScreens(page);
    await invitedTab.goto(`${getStage().url}/console/${project}/members`);
    await ownRow.getByRole('cell', { name: 'Admin', exact: true }).waitFor();
    await invitedTab.getByRole('button', { name: 'Claim domain' }).waitFor();
    await ownRow.getByRole('button', { name: 'Leave' }).click();
    await invitedTab.getByRole('alertdialog').or(invitedTab.getByRole('dialog')).waitFor();
    await invitedTab.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await invitedTab.getByRole('heading', { level: 1, name: /project/i }).waitFor();

    await page.reload();
    await members.getByText('Ada Lovelace').waitFor();
    expect(await members.getByText('Brian').count()).toBe(0);
    await Promise.all([page, invitedTab].map((tab) => tab.context().close()));
  });
});
