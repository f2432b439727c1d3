/** The entry of the prediction process; bundled to dist/prediction.js. It loads no engine and no tokenizer. */
import type { PredictionApi } from '../shared/protocol.ts';
import { predictionHandlers } from './prediction.ts';
import { serveHost } from './serve.ts';

serveHost<PredictionApi>(predictionHandlers());
