import { paritySuite } from './suite.ts';

paritySuite('stories260k');
