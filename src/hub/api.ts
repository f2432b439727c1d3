/** What is used of @huggingface/hub: loaded with the first question to the Hub, and bundled without the rest. */
export { datasetInfo, listFiles, modelInfo } from '@huggingface/hub';
