import { paritySuite } from './suite.ts';

paritySuite('stories260k', { only: ({ chat }) => chat !== null });
