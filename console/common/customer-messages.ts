/** Texts that customers see on the connect page, and on the gateway's pages before and after a provider's consent. */
import { getLanguage, type Language } from './languages.ts';

const en = {
  connectTitle: (app: string) => `Connect with ${app}`,
  connectAccountsFor: (group: string) => `Connect accounts for ${group}`,
  noIntegrations: 'No integrations yet',
  nothingOffered: 'Nothing to connect yet',
  setupIncomplete:
    'The setup of the integrations is not complete. Try again later, or contact the app that sent you here.',
  connectedByGateway: 'Connected by Integration gateway',
  done: 'Done',
  back: 'Back',
  cancel: 'Cancel',
  notConnectedBecause: (reason: string) => `The account was not connected: ${reason}`,

  linkIncomplete: 'This link is incomplete',
  linkExpired: 'This link has expired',
  openPageAgain: 'Go back to the app that sent you here and open the page again.',
  linkExpiredHint:
    'Links are valid for a few minutes. Go back to the app that sent you here and open the page again.',
  cannotBeFramed: "This page can't be shown here",
  openInOwnWindow: 'Open it in its own window.',
  onlyForEndUsers: 'This page is for end users',
  openWithUserToken:
    "An API key can't connect accounts. Open this page with the token of an end user.",

  connected: 'Connected',
  notConnected: 'Not connected',
  badCredentials: 'Bad credentials',
  credentialsRejected: 'The provider rejected these credentials. Reconnect your account.',
  detailsMissing: (labels: string[]) =>
    `This integration also needs ${labels.join(', ')}. Reconnect your account to enter it.`,
  connectProvider: (provider: string) => `Connect ${provider}`,
  reconnectProvider: (provider: string) => `Reconnect ${provider}`,
  connectAnotherAccount: 'Connect another account',
  disconnect: 'Disconnect',
  confirmDisconnect: (provider: string) => `Disconnect ${provider}?`,
  disconnectEffect: 'Reads and writes of this account stop. You can connect it again later.',

  howToConnect: 'How to connect',
  workspaceHelp: (address: string) => `Your part of the URL: ${address}`,
  providerHelp: (provider: string) => `Help from ${provider}`,
  inputHelp: (label: string) => `About “${label}”`,
  connect: 'Connect',
  continueToProvider: (provider: string) => `Continue to ${provider}`,

  otherWaysToConnect: 'Other ways to connect',
  windowBlocked: 'The browser blocked the window. Open it to continue.',
  waitingForConsent: 'Waiting for your approval in the other window…',
  windowClosed: 'The window was closed before an account was connected. Open it again to continue.',
  installPackageFirst:
    'If the provider refuses the app, install its package in your account first:',
  installPackage: 'Install package',
  installPackageOf: (app: string) =>
    `Install the package of ${app}, if your account does not have it yet.`,
  openWindow: 'Open window',
  reopenWindow: 'Reopen window',

  confirmAccess: (app: string, provider: string) =>
    `You are about to give ${app} access to your ${provider} account, on behalf of:`,
  app: 'App',
  organization: 'Organization',
  user: 'User',
  confirmParties:
    'Continue only if this is your organization and you expected this request. Otherwise close this page: that organization would get access to the data of your account.',
  accessDenied: 'The provider denied access.',
  consentFailed: 'The provider did not complete the connection. Try again later.',
  credentialsRefused: 'The provider rejected the credentials.',
  providerRefused: 'The provider refused this.',
  providerFailed: 'The provider does not respond as expected. Try again later.',
  providerSays: (text: string) => `The provider says: “${text}”`,
  /** Details of the gateway are in English, so other languages replace them. */
  gatewayDetail: (detail: string): string => detail,
  valueDetail: (detail: string): string => detail,
  healthDetail: (detail: string): string => detail,
  canCloseWindow: 'You can close this window.',
  linkUsedOrExpired: 'This link has already been used, or it has expired.',
  startedInOtherBrowser:
    'Nothing was connected, because you started in another browser, or this browser does not accept cookies.',
  connectAgain: 'Go back to the app that sent you here and connect again.',

  start: 'Start',
  healthy: 'Healthy',
  unhealthy: 'Unhealthy',
  progressOf: (name: string) => `Progress of ${name}`,
  lastRead: 'last read',
  startingFirstRead: 'starting the first read',
  readNow: 'Read now',

  approvalTitle: (app: string) => `Approve changes in ${app}`,
  approvalsFor: (group: string) => `Approvals for ${group}`,
  waitingForApproval: 'Waiting for your approval',
  nothingToApprove: 'Nothing waits for your approval.',
  createRecord: (object: string) => `Create a record: ${object}`,
  updateRecord: (object: string) => `Change a record: ${object}`,
  deleteRecord: (object: string) => `Delete a record: ${object}`,
  proposedBy: (agent: string) => `Proposed by ${agent}`,
  record: (id: string) => `record ${id}`,
  expires: 'expires',
  approve: 'Approve',
  reject: 'Reject',
  reason: 'Reason',
  reasonHelp: 'Optional. The app and the agent that proposed this can read it.',
  approved: 'Approved',
  rejected: 'Rejected',
  alreadyApproved: 'This was approved already.',
  alreadyRejected: 'This was rejected. It is not carried out.',
  alreadyCommitted: 'This was approved and carried out.',
  proposalExpired: 'This has expired. It is not carried out.',
  recordChanged: 'The record has changed since this was proposed, so it was not carried out.',
  approverIsProposer: 'You proposed this yourself, so another person must approve it.',
  proposalMissing: 'This request no longer exists.',

  apiKey: 'API key',
  apiKeyHelp: "You find it in your account's settings.",
  userName: 'User name',
  password: 'Password',
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  withApiKey: 'With an API key',
  withPassword: 'With a user name and a password',
  bySigningIn: 'By signing in at the provider',
  withClient: 'With a client ID and its secret',
  withPasswordAndClient: 'With a user name, a password and a client',
  withoutCredentials: 'Without credentials',
  withCustomInputs: 'With other credentials',

  tooManyAttempts: 'Too many attempts. Try again in a minute.',
  unavailableTitle: 'Not available',
  serviceUnavailable: 'The service is not available at the moment. Try again in a few seconds.',
  sessionExpired:
    'This link has expired. Go back to the app that sent you here and open the page again.',
  ourFault:
    'Something is wrong on our side. Try again later, or contact the app that sent you here.',
};

export type Messages = typeof en;

const de: Messages = {
  connectTitle: (app) => `Mit ${app} verbinden`,
  connectAccountsFor: (group) => `Konten für ${group} verbinden`,
  noIntegrations: 'Noch keine Integrationen',
  nothingOffered: 'Noch nichts zu verbinden',
  setupIncomplete:
    'Die Integrationen sind noch nicht fertig eingerichtet. Versuchen Sie es später erneut, oder wenden Sie sich an die App, von der Sie kommen.',
  connectedByGateway: 'Verbunden durch Integration gateway',
  done: 'Fertig',
  back: 'Zurück',
  cancel: 'Abbrechen',
  notConnectedBecause: (reason) => `Das Konto wurde nicht verbunden: ${reason}`,

  linkIncomplete: 'Dieser Link ist unvollständig',
  linkExpired: 'Dieser Link ist abgelaufen',
  openPageAgain: 'Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  linkExpiredHint:
    'Links gelten nur wenige Minuten. Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  cannotBeFramed: 'Diese Seite kann hier nicht angezeigt werden',
  openInOwnWindow: 'Öffnen Sie sie in einem eigenen Fenster.',
  onlyForEndUsers: 'Diese Seite ist für Endnutzer',
  openWithUserToken:
    'Mit einem API-Schlüssel lassen sich keine Konten verbinden. Öffnen Sie diese Seite mit dem Token eines Endnutzers.',

  connected: 'Verbunden',
  notConnected: 'Nicht verbunden',
  badCredentials: 'Ungültige Zugangsdaten',
  credentialsRejected:
    'Der Anbieter hat diese Zugangsdaten abgelehnt. Verbinden Sie Ihr Konto erneut.',
  detailsMissing: (labels) =>
    `Diese Integration braucht noch: ${labels.join(', ')}. Verbinden Sie Ihr Konto erneut, um dies einzugeben.`,
  connectProvider: (provider) => `${provider} verbinden`,
  reconnectProvider: (provider) => `${provider} erneut verbinden`,
  connectAnotherAccount: 'Anderes Konto verbinden',
  disconnect: 'Trennen',
  confirmDisconnect: (provider) => `${provider} trennen?`,
  disconnectEffect:
    'Aus diesem Konto wird nicht mehr gelesen, und es wird nicht mehr hineingeschrieben. Sie können es später wieder verbinden.',

  howToConnect: 'Art der Verbindung',
  workspaceHelp: (address) => `Ihr Teil der URL: ${address}`,
  providerHelp: (provider) => `Hilfe von ${provider}`,
  inputHelp: (label) => `Mehr zu „${label}“`,
  connect: 'Verbinden',
  continueToProvider: (provider) => `Weiter zu ${provider}`,

  otherWaysToConnect: 'Andere Arten der Verbindung',
  windowBlocked: 'Der Browser hat das Fenster blockiert. Öffnen Sie es, um fortzufahren.',
  waitingForConsent: 'Warten auf Ihre Zustimmung im anderen Fenster …',
  windowClosed:
    'Das Fenster wurde geschlossen, bevor ein Konto verbunden war. Öffnen Sie es erneut, um fortzufahren.',
  installPackageFirst:
    'Wenn der Anbieter die App ablehnt, installieren Sie zuerst ihr Paket in Ihrem Konto:',
  installPackage: 'Paket installieren',
  installPackageOf: (app) =>
    `Installieren Sie das Paket von ${app}, wenn Ihr Konto es noch nicht hat.`,
  openWindow: 'Fenster öffnen',
  reopenWindow: 'Fenster erneut öffnen',

  confirmAccess: (app, provider) =>
    `Sie sind dabei, ${app} den Zugriff auf Ihr Konto bei ${provider} zu erlauben, und zwar für:`,
  app: 'App',
  organization: 'Organisation',
  user: 'Benutzer',
  confirmParties:
    'Fahren Sie nur fort, wenn dies Ihre Organisation ist und Sie diese Anfrage erwartet haben. Schließen Sie sonst diese Seite: Diese Organisation bekäme Zugriff auf die Daten Ihres Kontos.',
  accessDenied: 'Der Anbieter hat den Zugriff verweigert.',
  consentFailed:
    'Der Anbieter hat die Verbindung nicht abgeschlossen. Versuchen Sie es später erneut.',
  credentialsRefused: 'Der Anbieter hat die Zugangsdaten abgelehnt.',
  providerRefused: 'Der Anbieter hat dies abgelehnt.',
  providerFailed: 'Der Anbieter antwortet nicht wie erwartet. Versuchen Sie es später erneut.',
  providerSays: (text) => `Der Anbieter meldet: „${text}“`,
  gatewayDetail: () => 'Dies ist zurzeit nicht möglich.',
  valueDetail: () => 'Prüfen Sie diesen Wert.',
  healthDetail: () => '',
  canCloseWindow: 'Sie können dieses Fenster schließen.',
  linkUsedOrExpired: 'Dieser Link wurde bereits verwendet, oder er ist abgelaufen.',
  startedInOtherBrowser:
    'Es wurde nichts verbunden, weil die Verbindung in einem anderen Browser begonnen wurde oder dieser Browser keine Cookies annimmt.',
  connectAgain:
    'Kehren Sie zur App zurück, von der Sie kommen, und verbinden Sie das Konto erneut.',

  start: 'Starten',
  healthy: 'In Ordnung',
  unhealthy: 'Gestört',
  progressOf: (name) => `Fortschritt von ${name}`,
  lastRead: 'zuletzt gelesen',
  startingFirstRead: 'erstes Lesen beginnt',
  readNow: 'Jetzt lesen',

  approvalTitle: (app) => `Änderungen in ${app} genehmigen`,
  approvalsFor: (group) => `Genehmigungen für ${group}`,
  waitingForApproval: 'Wartet auf Ihre Genehmigung',
  nothingToApprove: 'Nichts wartet auf Ihre Genehmigung.',
  createRecord: (object) => `Datensatz anlegen: ${object}`,
  updateRecord: (object) => `Datensatz ändern: ${object}`,
  deleteRecord: (object) => `Datensatz löschen: ${object}`,
  proposedBy: (agent) => `Vorgeschlagen von ${agent}`,
  record: (id) => `Datensatz ${id}`,
  expires: 'läuft ab',
  approve: 'Genehmigen',
  reject: 'Ablehnen',
  reason: 'Begründung',
  reasonHelp: 'Optional. Die App und der Agent, der dies vorgeschlagen hat, können sie lesen.',
  approved: 'Genehmigt',
  rejected: 'Abgelehnt',
  alreadyApproved: 'Dies wurde bereits genehmigt.',
  alreadyRejected: 'Dies wurde abgelehnt. Es wird nicht ausgeführt.',
  alreadyCommitted: 'Dies wurde genehmigt und ausgeführt.',
  proposalExpired: 'Dies ist abgelaufen. Es wird nicht ausgeführt.',
  recordChanged:
    'Der Datensatz hat sich seit dem Vorschlag geändert. Deshalb wurde dies nicht ausgeführt.',
  approverIsProposer:
    'Sie haben dies selbst vorgeschlagen. Deshalb muss es eine andere Person genehmigen.',
  proposalMissing: 'Diese Anfrage gibt es nicht mehr.',

  apiKey: 'API-Schlüssel',
  apiKeyHelp: 'Sie finden ihn in den Einstellungen Ihres Kontos.',
  userName: 'Benutzername',
  password: 'Passwort',
  clientId: 'Client-ID',
  clientSecret: 'Client-Secret',
  withApiKey: 'Mit einem API-Schlüssel',
  withPassword: 'Mit Benutzername und Passwort',
  bySigningIn: 'Durch Anmeldung beim Anbieter',
  withClient: 'Mit einer Client-ID und ihrem Secret',
  withPasswordAndClient: 'Mit Benutzername, Passwort und Client',
  withoutCredentials: 'Ohne Zugangsdaten',
  withCustomInputs: 'Mit anderen Zugangsdaten',

  tooManyAttempts: 'Zu viele Versuche. Versuchen Sie es in einer Minute erneut.',
  unavailableTitle: 'Nicht erreichbar',
  serviceUnavailable:
    'Der Dienst ist gerade nicht erreichbar. Versuchen Sie es in einigen Sekunden erneut.',
  sessionExpired:
    'Dieser Link ist abgelaufen. Kehren Sie zur App zurück, von der Sie kommen, und öffnen Sie die Seite erneut.',
  ourFault:
    'Bei uns stimmt etwas nicht. Versuchen Sie es später erneut, oder wenden Sie sich an die App, von der Sie kommen.',
};

const MESSAGES: Record<Language, Messages> = { en, de };

export function getMessages(locale: string): Messages {
  return MESSAGES[getLanguage(locale)];
}

interface ConsentFailure {
  /** An error code of OAuth. */
  error: string;
  /** The provider's explanation. Null if it gave none. */
  providerText: string | null;
}

/** Returns why a consent connected no account, with the provider's own words. */
export function describeConsentFailure(
  messages: Messages,
  { error, providerText }: ConsentFailure,
): string {
  if (providerText !== null) return messages.providerSays(providerText);
  return error === 'access_denied' ? messages.accessDenied : messages.consentFailed;
}
