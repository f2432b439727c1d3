import { paritySuite } from './suite.ts';

paritySuite('llama');
