/** The groups of endpoints, in the order of the document. */
export const TAGS = [
  { name: 'Projects', description: 'Applications of builders; everything else belongs to one.' },
  { name: 'API keys', description: 'What callers of a project authenticate with.' },
  { name: 'Groups', description: "Sets of the builder's users who share access." },
  { name: 'Consumers', description: "The builder's users, who connect accounts." },
  { name: 'Integrations', description: 'What is read and written at a provider, in revisions.' },
  { name: 'Installations', description: 'Integrations that groups use.' },
  { name: 'Writes', description: "Records that are written to customers' accounts." },
  { name: 'Reads', description: 'Reads that are asked for, paused and resumed.' },
  { name: 'Operations', description: 'Pieces of provider work, and what came of them.' },
  { name: 'Topics', description: 'Named streams of events.' },
  { name: 'Destinations', description: 'Where messages are sent.' },
  { name: 'Event routes', description: 'Which events go to which topic.' },
  { name: 'Topic routes', description: 'Which topics go to which destination.' },
  { name: 'Events', description: 'What happened in a project.' },
  { name: 'Deliveries', description: 'Messages that destinations are owed.' },
];
