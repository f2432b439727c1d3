import { paritySuite } from './suite.ts';

paritySuite('gpt2');
